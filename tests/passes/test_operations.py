"""Generated adjoints compute little more than what a person writes by hand, and nothing twice."""

import copy

import adjoints_by_hand as hand
import pytest
import trees

import wengert as wg
from wengert.compile import engine
from wengert.compile.engine import Verb

PAIRS = hand.PAIRS
AT_MOST = 1.2


def generated(program, args):
    call = engine.call_of(program.function, copy.deepcopy(args), {})
    (function,) = engine.derive(Verb("grad", program.wrt), call).functions
    return hand.operations(function)


def test_every_adjoint_by_hand_belongs_to_a_program():
    assert {program.name for program, _ in PAIRS} == set(hand.NAMED)


@pytest.mark.parametrize(("program", "by_hand"), PAIRS, ids=[p.name for p, _ in PAIRS])
def test_the_adjoint_by_hand_is_right(program, by_hand):
    args = program.points[0]
    found = by_hand(*copy.deepcopy(args))
    expected = wg.grad(program.function, argnums=program.wrt)(*copy.deepcopy(args))
    trees.assert_close(found if isinstance(found, tuple) else (found,), expected, rel=1e-12)


@pytest.mark.parametrize(("program", "by_hand"), PAIRS, ids=[p.name for p, _ in PAIRS])
def test_no_more_operations_than_by_hand(program, by_hand):
    args = program.points[0]
    assert generated(program, args) <= AT_MOST * hand.operations_by_hand(by_hand, args)


def test_bytes_are_their_numbers():
    def program(x):
        return sum(code * x for code in b"abc") + len(b"abc") * x

    assert wg.value_and_grad(program)(1.5) == (program(1.5), 297.0)
