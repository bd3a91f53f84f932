"""Choices: branches, early returns, patterns, assertions."""

import math

from .registry import add


def absolute(x):
    if x < 0:
        x = -x
    return x


add(absolute, (2.0,), (-2.0,))


def three_ways(x):
    if x > 1:
        y = x * 2
    elif x < -1:
        y = x * x * 3
    else:
        y = math.sin(x)
    return y + x


add(three_ways, (2.0,), (-2.0,), (0.5,))


def missing_else(x):
    y = x
    if x > 0:
        y = y * x
    return y * 3


add(missing_else, (2.0,), (-2.0,))


def early_return(x):
    if x < 0:
        return x * x
    y = math.exp(x)
    if y > 5:
        return y + x
    return y * x


add(early_return, (-1.0,), (3.0,), (0.5,))


def return_in_every_arm(x, y):
    if x > y:
        if x > 2 * y:
            return x * y
        return x - y
    elif x == 0:
        return y
    else:
        return x / y


add(return_in_every_arm, (5.0, 1.0), (1.5, 1.0), (0.5, 2.0))


def code_after_return(x):
    return x * 2
    x = x + 1  # noqa: F841
    return x * 100


add(code_after_return, (1.0,))


def nested_choice(x, y):
    if x > 0:
        z = x
        if y > 0:
            z = z * y
        else:
            z = z - y
            w = 3.0 * z
            z = w + y
    else:
        z = y
    return z * z


add(nested_choice, (1.0, 2.0), (1.0, -2.0), (-1.0, 2.0))


def both_arms_rebind(a, b):
    if a > b:
        a, b = b, a
    else:
        a, b = a * 2, b * 3
    return a * a + b


add(both_arms_rebind, (2.0, 1.0), (1.0, 2.0))


def ternaries(x):
    y = x if x > 0 else 0.1 * x
    return (y * 2 if y > 1 else y**3 if y > 0 else y * y) + (1 if x else 2)


add(ternaries, (2.0,), (0.5,), (-0.5,))


def and_or_values(x, y):
    a = x and y
    b = x or y
    c = (x > 1 and x * y) or (y > 1 and y) or x * x
    return a * 2 + b * 3 + c


add(and_or_values, (2.0, 0.5), (0.5, 2.0), (0.5, 0.5))


def negations(x, flag=False):
    if not x > 1 and not flag:
        return x * 2
    if not (x < 3 or flag):
        return x * x
    return x


add(negations, (0.5,), (4.0,), (2.0,))


def chained_comparison(x):
    if 0 < x <= 1 != x:
        return x * x
    if -1 <= x < 0 < x + 2:
        return x**3
    return x


add(chained_comparison, (0.5,), (-0.5,), (3.0,))


def matched_values(x, kind):
    match kind:
        case 0 | 1:
            y = x * 2
        case "square":
            y = x * x
        case None:
            y = x
        case other if other == "cube":
            y = x**3
        case _:
            y = -x
    return y + x


add(matched_values, (1.5, 0), (1.5, "square"), (1.5, None), (1.5, "cube"), (1.5, "z"), wrt=(0,))


def matched_sequences(point):
    match point:
        case (x,):
            return x
        case (x, y):
            return x * y
        case [first, *rest, last]:
            return first * last + sum(rest)
    return 0.0


add(matched_sequences, ((1.5,),), ((1.5, 2.0),), ((1.5, 2.0, 3.0, 4.0),), (([2.0, 3.0]),))


def assertion_holds(x):
    assert x > 0, f"x is {x}"
    y = math.log(x)
    assert isinstance(y, float)
    return y * x


add(assertion_holds, (2.0,))


def raise_on_the_other_path(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    elif x > 100:
        raise OverflowError("too large", x)
    return x * 5


add(raise_on_the_other_path, (2.0,))


def defined_on_one_path(x):
    if x > 0:
        y = x * 3
    if x > 0:
        return y * x
    return x


add(defined_on_one_path, (2.0,), (-1.0,))


def flag_from_comparison(x):
    large = x > 1
    small = x < 0.1
    scale = 2.0 if large else 0.5 if small else 1.0
    return scale * x * x + (3 * x if large and not small else 0)


add(flag_from_comparison, (2.0,), (0.05,), (0.5,))


def relu_family(x):
    relu = max(0.0, x)
    leaky = x if x >= 0 else 0.01 * x
    elu = x if x > 0 else math.expm1(x)
    hard = min(max(x, -1.0), 1.0)
    return relu + leaky * elu + hard * x


add(relu_family, (0.7,), (-0.7,), (2.0,), (-2.0,))


def is_and_in(x, name, options):
    if name in options and name is not None:
        return x * 2
    if options is None or name not in ("a", "b"):
        return x * x
    return x * 3


add(is_and_in, (1.5, "b", ["b", "c"]), (1.5, "a", ["b"]), (1.5, "q", ["b"]), wrt=(0,))


def pass_and_docstring(x):
    """A docstring, a `pass` and an expression of no effect."""
    pass
    x  # noqa: B018
    if x > 1:
        pass
    else:
        x = x * 4
    return x * x


add(pass_and_docstring, (2.0,), (0.5,))
