"""What functions that recurse find in the functions around them, and objects that are mappings by their class."""

from collections.abc import Mapping, MutableMapping, Sequence

import pytest

import wengert as wg


def both(program, *args):
    """Value and derivative by the first argument, found by both modes, which agree."""
    value, slope = wg.value_and_grad(program)(*args)
    pushed, push = wg.pushforward(program, *args)
    assert (pushed, push(1.0, *[None] * (len(args) - 1))) == pytest.approx((value, slope))
    return value, slope


# --- a name that some paths leave unbound, and a function that recurses ---------------------


def solve(x, full):
    if full:
        log = {}

    def step(c):
        c = x * c
        if c < 10.0:
            c = step(c)
        if full:
            log["last"] = 1.0
        return c

    return step(x)


def counted(x, full):
    if full:
        log, unit = [], 2.0

    def step(c):
        if full:
            log.append(c * unit)
        return step(x * c) if c < 10.0 else c

    last = step(x)
    return last + sum(log) if full else last


def never_bound(x, full):
    if x < 0.0:
        log = {}

    def step(c):
        log["last"] = c
        return step(x * c) if c < 10.0 else c

    return step(x)


def test_F3_a_captured_name_that_is_bound_on_some_paths():
    for full in (True, False):
        assert both(solve, 1.5, full) == (11.390625, 45.5625)
    assert both(counted, 1.5, False) == (11.390625, 45.5625)
    value, slope = both(counted, 1.5, True)
    powers = range(1, 7)
    assert value == pytest.approx(1.5**6 + 2.0 * sum(1.5**k for k in powers))
    assert slope == pytest.approx(6 * 1.5**5 + 2.0 * sum(k * 1.5 ** (k - 1) for k in powers))


def test_a_captured_name_that_is_bound_nowhere():
    for run in (never_bound, wg.grad(never_bound)):
        with pytest.raises(NameError, match="free variable 'log'"):
            run(1.5, True)


# --- names that a function binds later ------------------------------------------------------

level = 3.0


def binds_what_it_extends(x):
    out = [x]

    def extend():
        out += [1.0]  # noqa: F823 — that is what is tested
        return out

    return extend()[0]


def binds_after_the_call(x):
    def scaled():
        return level * x

    found = scaled()
    level = 2.0
    return found * level


def forgets_the_exception(x):
    try:
        raise ValueError("no")  # noqa: TRY301
    except ValueError as level:  # noqa: F841
        pass
    return level * x  # noqa: F823 — that is what is tested


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (binds_what_it_extends, UnboundLocalError),
        (binds_after_the_call, NameError),
        (forgets_the_exception, UnboundLocalError),
    ],
)
def test_a_name_belongs_to_the_function_that_binds_it(program, error):
    for run in (program, wg.grad(program), wg.jit(program)):
        with pytest.raises(error, match="where it is not associated with a value"):
            run(2.0)


# --- objects that are mappings by their class -----------------------------------------------


class Shelf(Mapping):
    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        yield from self.data.keys()


class Drawer(MutableMapping):
    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        del self.data[key]

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)


class Row(Sequence):
    def __init__(self, *items):
        self.items = items

    def __getitem__(self, k):
        return self.items[k]

    def __len__(self):
        return len(self.items)


def twice(fun):
    def apply(v):
        return fun(fun(v))

    return apply


FUNCTIONS = {"quarter": twice(lambda v: 0.5 * v), "square": lambda v: v * v}
SHELF, DRAWER, ROW = Shelf(FUNCTIONS), Drawer(FUNCTIONS), Row(*FUNCTIONS.values())

OF_SHELVES = [
    (lambda x, s: x * len(tuple(s)), (6.0, 2.0)),
    (lambda x, s: x * len(list(s.keys())), (6.0, 2.0)),
    (lambda x, s: s["quarter"](x), (0.75, 0.25)),
    (lambda x, s: sum(s[k](x) for k in s), (9.75, 6.25)),
    (lambda x, s: sum(f(x) for f in s.values()), (9.75, 6.25)),
    (lambda x, s: sum(f(x) * len(k) for k, f in s.items()), (59.25, 37.75)),
    (lambda x, s: x * len(s) + ("square" in s) + ("round" in s.keys()), (7.0, 2.0)),
    (lambda x, s: s.get("square")(x), (9.0, 6.0)),
]


@pytest.mark.parametrize(("program", "wanted"), OF_SHELVES)
def test_F3_functions_in_an_object_that_is_a_mapping(program, wanted):
    assert both(lambda x: program(x, SHELF), 3.0) == pytest.approx(wanted)
    assert both(lambda x: program(x, DRAWER), 3.0) == pytest.approx(wanted)
    made = lambda x: program(x, Shelf({"quarter": lambda v: 0.25 * v, "square": lambda v: x * v}))
    assert wg.grad(made)(3.0) == pytest.approx(wanted[1])


def test_functions_in_an_object_that_is_a_sequence():
    assert both(lambda x: sum(f(x) for f in ROW), 3.0) == (9.75, 6.25)
    assert both(lambda x: ROW[-1](x) * len(ROW), 3.0) == (18.0, 12.0)
