"""`is` of tuples: what was put into a container is what is read from it."""

import pytest

import wengert as wg
from wengert.errors import UnsupportedSyntax


def through_a_dict(t):
    held = {"b": 1.0}
    held["b"] = (t, 2.0)
    other = {"b": held["b"]}
    return t * t if held["b"] is other["b"] else t


def of_two_sizes(t):
    return t * t if (t, 2.0) is not (t, 2.0, 3.0)[:] else t


def of_equal_items(t):
    a, b = (t, 2.0), (t, 2.0)
    return t * t if a is not b else t


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("program", [through_a_dict, of_two_sizes])
def test_a_tuple_is_itself_wherever_it_is_held(program, tier):
    assert wg.grad(program, tier=tier)(3.0) == 6.0


def test_tuples_of_one_size_that_may_be_two_are_refused_or_recorded():
    assert wg.grad(of_equal_items)(3.0) == 6.0
    with pytest.raises(UnsupportedSyntax, match="one object"):
        wg.grad(of_equal_items, tier="static")(3.0)
