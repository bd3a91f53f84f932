"""An object that a container refers to in two places, and then in one: who changes it there changes it here.

Either the derivative is right, or the program refuses when it runs: it is read as objects of their own.
"""

import numpy as np
import pytest
import standing_alone
from oracle import central_gradient

import wengert as wg


class Box:
    def __init__(self):
        self.w = np.array([0.1, 0.2, 0.3, 0.4])
        self.parts = []


def arguments():
    rows = [np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.2, 0.3, 0.4])]
    return np.arange(1.0, 5.0), rows, {"p": np.ones(4), "q": np.arange(4.0)}, Box()


def attribute_replaced(x, a, xs, d, o):
    o.v = o.w
    o.v[0] = x
    o.v = a
    return a @ o.w


def attribute_left(x, a, xs, d, o):
    o.v = o.w
    old = o.v
    o.v = a
    old[0] = x
    return a @ o.w


def other_attribute_replaced(x, a, xs, d, o):
    o.parts = [o.w]
    o.w[0] = x
    o.w = a
    return a @ o.parts[0]


def item_of_an_attribute(x, a, xs, d, o):
    o.parts = [o.w]
    o.parts[0][0] = x
    o.parts[0] = a
    return a @ o.w


def item_of_an_attribute_left(x, a, xs, d, o):
    o.parts = [o.w]
    old = o.parts[0]
    o.parts[0] = a
    old[0] = x
    return a @ o.w


def list_left_with_its_item(x, a, xs, d, o):
    o.parts = [o.w]
    old = o.parts[0]
    o.parts = [a]
    old[0] = x
    return a @ o.w


def item_of_a_list(x, a, xs, d, o):
    xs[0] = xs[1]
    xs[0][0] = x
    xs[0] = a
    return xs[1] @ a


def item_of_a_list_left(x, a, xs, d, o):
    xs[0] = xs[1]
    old = xs[0]
    xs[0] = a
    old[0] = x
    return xs[1] @ a


def entry_replaced(x, a, xs, d, o):
    d["r"] = d["q"]
    d["r"][0] = x
    d["r"] = 2 * a
    return d["q"] @ a


def entry_left(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"]
    d["p"] = a
    old[0] = x
    return d["q"] @ a


def replaced_in_a_loop(x, a, xs, d, o):
    for k in range(2):
        d["z"] = d["q"]
        d["z"][k] = x
        d["z"] = a * k
    return d["q"] @ a


def changed_by_its_other_name(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"]
    d["p"] = a
    d["q"][0] = x
    return old @ a


def changed_where_it_stays(x, a, xs, d, o):
    xs[0] = xs[1]
    old = xs[0]
    xs[0] = a
    xs[1][0] = x
    return old @ a + xs[1] @ a


def new_entry_left(x, a, xs, d, o):
    d["r"] = d["q"]
    old = d["r"]
    d["r"] = 2 * a
    d["q"] *= x
    return old @ a


def new_entry_changed(x, a, xs, d, o):
    d["r"] = d["q"]
    old = d["r"]
    d["r"] = 2 * a
    old[0] = x
    return d["q"] @ a


def new_entry_taken_out(x, a, xs, d, o):
    d["r"] = d["q"]
    old = d.pop("r")
    old[0] = x
    return d["q"] @ a


def entry_taken_out(x, a, xs, d, o):
    d["r"] = d["q"]
    old = d.pop("q")
    d["r"][0] = x
    return old @ a


def entry_deleted(x, a, xs, d, o):
    d["r"] = d["q"]
    old = d["q"]
    del d["q"]
    d["r"][0] = x
    return old @ a


def by_setdefault(x, a, xs, d, o):
    old = d.setdefault("r", d["q"])
    d["r"] = a
    old[0] = x
    return d["q"] @ a


def by_update(x, a, xs, d, o):
    d.update(r=d["q"])
    old = d["r"]
    d.update(r=a)
    d["q"][0] = x
    return old @ a


def appended_and_taken(x, a, xs, d, o):
    xs.append(xs[0])
    old = xs.pop()
    old[0] = x
    return xs[0] @ a


def appended_and_replaced(x, a, xs, d, o):
    xs.append(xs[0])
    old = xs[0]
    xs[0] = a
    xs[-1][0] = x
    return old @ a


def appended_and_changed(x, a, xs, d, o):
    xs.append(xs[0])
    old = xs[0]
    xs[0] = a
    old[0] = x
    return xs[2] @ a


def inserted_and_deleted(x, a, xs, d, o):
    xs.insert(0, xs[1])
    old = xs[0]
    del xs[0]
    xs[1][0] = x
    return old @ a


def extended(x, a, xs, d, o):
    xs.extend(xs[:1])
    old = xs[0]
    xs[0] = a
    old[0] = x
    return xs[2] @ a


def slice_replaced(x, a, xs, d, o):
    xs[:1] = [xs[1], a]
    old = xs[0]
    xs[0] = 2 * a
    xs[2][0] = x
    return old @ a


def attribute_deleted(x, a, xs, d, o):
    o.v = o.w
    old = o.v
    del o.v
    old[0] = x
    return o.w @ a


def row_of_a_table(x, a, xs, d, o):
    d["t"] = {"s": d["q"]}
    old = d["t"]
    d["t"] = {"s": a}
    old["s"][0] = x
    return d["q"] @ a


def swapped_in_a_branch(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"]
    if x > 0:
        d["p"] = a
    d["q"][0] = x
    return old @ a


def replaced_while_it_lasts(x, a, xs, d, o):
    total = 0.0
    for k in range(3):
        d["p"] = d["q"]
        old = d["p"]
        d["p"] = a * k
        old[k] = x * k
        total += d["q"] @ a
    return total


def through_a_function(x, a, xs, d, o):
    def put(table, key, value):
        before = table[key]
        table[key] = value
        return before

    d["p"] = d["q"]
    old = put(d, "p", a)
    old[0] = x
    return d["q"] @ a


def in_a_tuple(x, a, xs, d, o):
    d["p"] = (d["q"], 1)
    old = d["p"]
    d["p"] = (a, 2)
    old[0][0] = x
    return d["q"] @ a


def read_in_a_try(x, a, xs, d, o):
    try:
        xs[0] = xs[1]
        old = xs[0]
    except ValueError:
        old = a
    xs[0] = a
    xs[1][0] = x
    return old @ a


def raise_it():
    raise ValueError


def raised_and_read(x, a, xs, d, o):
    try:
        raise_it()
    except ValueError:
        d["p"] = d["q"]
        old = d["p"]
        d["p"] = a
        d["q"][0] = x
        u = old @ a
    finally:
        for _ in range(3):
            break
    return u


def raised_and_changed(x, a, xs, d, o):
    try:
        raise_it()
    except ValueError:
        o.v = o.w
        old = o.v
        o.v = a
        old[0] = x
        u = o.w @ a
    finally:
        for _ in range(3):
            break
    return u


def read_in_a_branch(x, a, xs, d, o):
    d["p"] = d["q"]
    if x > 0.5:
        old = d["p"]
    else:
        old = a
    d["p"] = a
    d["q"][0] = x
    return old @ a


def changed_in_a_branch(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"] if x > 0.5 else a
    d["p"] = a
    old[0] = x
    return d["q"] @ a


def left_in_a_branch(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"]
    if x > 0.5:
        d["p"] = a
        old[0] = x
    return d["q"] @ a


def kept_from_a_loop(x, a, xs, d, o):
    old = a
    for _ in range(3):
        d["p"] = d["q"]
        old = d["p"]
    d["p"] = a
    d["q"][0] = x
    return old @ a


def changed_from_a_loop(x, a, xs, d, o):
    old = a
    for _ in range(3):
        xs[0] = xs[1]
        old = xs[0]
    xs[0] = a
    old[0] = x
    return xs[1] @ a


def replaced_next_time(x, a, xs, d, o):
    old = a
    for k in range(2):
        old[0] = x * k
        d["p"] = d["q"]
        old = d["p"]
        d["p"] = a
    return old @ a + d["q"] @ a


def old_in_a_list(x, a, xs, d, o):
    d["p"] = d["q"]
    old = [d["p"]]
    d["p"] = a
    old[0][0] = x
    return d["q"] @ a


def old_in_an_object(x, a, xs, d, o):
    d["p"] = d["q"]
    o.w = d["p"]
    d["p"] = a
    o.w[0] = x
    return d["q"] @ a


def view_of_what_left(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"][1:]
    d["p"] = a
    old[0] = x
    return d["q"] @ a


def view_that_is_read(x, a, xs, d, o):
    d["p"] = d["q"]
    old = d["p"][1:]
    d["p"] = a
    d["q"][1] = x
    return old @ a[1:]


def view_of_an_attribute(x, a, xs, d, o):
    o.v = o.w
    old = o.v.reshape(2, 2).T[0]
    o.v = a
    old[0] = x
    return o.w @ a


def view_of_an_attribute_read(x, a, xs, d, o):
    o.v = o.w
    old = o.v.reshape(2, 2).T[0]
    o.v = a
    o.w[0] = x
    return old[0] * a[0]


TWICE = [
    changed_by_its_other_name,
    changed_where_it_stays,
    attribute_replaced,
    attribute_left,
    other_attribute_replaced,
    item_of_an_attribute,
    item_of_an_attribute_left,
    list_left_with_its_item,
    item_of_a_list,
    item_of_a_list_left,
    entry_replaced,
    entry_left,
    replaced_in_a_loop,
    new_entry_left,
    new_entry_changed,
    new_entry_taken_out,
    entry_taken_out,
    entry_deleted,
    by_setdefault,
    by_update,
    appended_and_taken,
    appended_and_replaced,
    appended_and_changed,
    inserted_and_deleted,
    extended,
    slice_replaced,
    attribute_deleted,
    row_of_a_table,
    swapped_in_a_branch,
    replaced_while_it_lasts,
    through_a_function,
    in_a_tuple,
    read_in_a_try,
    raised_and_read,
    raised_and_changed,
    read_in_a_branch,
    changed_in_a_branch,
    left_in_a_branch,
    kept_from_a_loop,
    changed_from_a_loop,
    replaced_next_time,
    old_in_a_list,
    old_in_an_object,
    view_of_what_left,
    view_that_is_read,
    view_of_an_attribute,
    view_of_an_attribute_read,
]


def swapped_by_name(x, a, xs, d, o):
    t = xs[0]
    xs[0] = xs[1]
    xs[1] = t
    t[0] = x
    xs[0][1] = x * x
    return xs[1] @ a + 2 * xs[0] @ a


def swapped_at_once(x, a, xs, d, o):
    xs[0], xs[1] = xs[1], xs[0]
    xs[0][1] = x * x
    xs[1][0] = x
    return xs[1] @ a + 2 * xs[0] @ a


def moved(x, a, xs, d, o):
    xs[0] = xs[1]
    xs[1] = a
    xs[0][0] = x
    return xs[0] @ a


def given(derivative):
    return derivative(0.7, *arguments())


def ways(f):
    def forward():
        return wg.pushforward(lambda x, rest: f(x, *rest), 0.7, arguments())[1](1.0, None)

    yield lambda: given(wg.grad(f))
    yield lambda: given(wg.grad(f, argnums=(0, 1, 2, 3, 4)))[0]
    yield forward
    yield lambda: given(standing_alone.alone(wg.grad(f)))


@pytest.mark.parametrize("f", TWICE)
def test_it_is_right_or_refused(f):
    (expected,) = central_gradient(lambda x: f(x, *arguments()), 0.7)
    for way in ways(f):
        found = standing_alone.unless_refused(way)
        assert found is None or found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("f", [swapped_by_name, swapped_at_once, moved])
def test_what_is_in_one_place_again_is_followed(f):
    (expected,) = central_gradient(lambda x: f(x, *arguments()), 0.7)
    assert given(wg.grad(f)) == pytest.approx(expected, rel=1e-8)
    assert given(wg.grad(f, argnums=(0, 1, 2, 3, 4)))[0] == pytest.approx(expected, rel=1e-8)


def test_the_refusal_says_what_to_do():
    with pytest.raises(wg.WengertError) as caught:
        given(wg.grad(attribute_left))
    assert "two items of this container were one object, which is changed elsewhere" in str(
        caught.value
    )
    assert "Put a copy into the container" in str(caught.value)


def program_of_parts(x, n):
    b = np.zeros(4)
    table = {"p": {"s": x, "t": b}, "q": {"s": 0.5, "t": np.ones(4)}}
    best = max(table, key=lambda key: table[key]["s"])
    table[best]["t"][1] = x * x
    w = b.reshape(2, 2).T[0]
    w[0] = np.sum(b) * n
    return b @ b


def test_a_tangent_is_converted_like_the_part_that_takes_it():
    """Like the dictionary around it, it was nothing."""
    value, push = wg.pushforward(program_of_parts, 0.7, 2)
    assert value == pytest.approx(program_of_parts(0.7, 2))
    assert push(1.0, 0.0) == pytest.approx(wg.grad(program_of_parts)(0.7, 2), rel=1e-12)
