"""Programs that text drives: token lists that are eaten up, parsers with a position, functions looked up by name."""

from __future__ import annotations

import math

import pytest
from error_texts import refusal, says

import wengert as wg


def words_taken_off(text, x):
    words = text.split()
    words.pop(0)
    words.append("k")
    return x * x * len(words)


def words_under_two_names(text, x):
    words = text.split()
    same = [words, words]
    same[0].pop()
    return x**3 * len(same[1])


def words_of_each_turn(text, x):
    total = 0.0
    for _ in range(2):
        words = text.split()
        words.remove("a")
        total += x * len(words)
    return total * x


def words_until_none_is_left(text, x):
    words, total = text.split(), 0.0
    while words:
        total = total * x + len(words.pop())
    return total


def pairs_with_numbers_put_in(text, x):
    rows = [word.split("=") for word in "a=1 b=2.5".split()]
    for row in rows:
        row[1] = float(row[1]) * x
    return rows[0][1] * rows[1][1] + len(text)


class Tokens:
    def __init__(self, text):
        self.words = text.split()

    def take(self):
        return self.words.pop(0)


def tokens_of_an_object(text, x):
    tokens, total = Tokens(text), 0.0
    while tokens.words:
        total += x ** len(tokens.take())
    return total


def nested_list(words):
    word = words.pop(0)
    if word != "(":
        return word
    items = []
    while words[0] != ")":
        items.append(nested_list(words))
    words.pop(0)
    return items


def value_of(tree, x):
    if isinstance(tree, str):
        return {"a": x, "b": x * x}.get(tree, 3.0)
    return math.sin(sum(value_of(item, x) for item in tree))


def expression_in_parentheses(text, x):
    return value_of(nested_list(["(", *text.split(), ")"]), x)


def parsed_from_words(text, x):
    return value_of(nested_list(f"( {text} )".split()), x)


def missing_in_text(text, x):
    try:
        return x * text.index("missing")
    except ValueError:
        return x * x


def square_rate(x):
    return x * x


def sine_rate(x):
    return math.sin(x)


RATES = ("square", "sine", "none")


def rates_by_name(text, x):
    total = x if text in globals() else 0.0
    for name in RATES:
        rate = globals().get(name + "_rate")
        if rate is not None:
            total += rate(x) * globals()[name + "_rate"](2 * x)
    return total


def rate_that_is_missing(text, x):
    try:
        return globals()[text + "_rate"](x)
    except KeyError:
        return x**3


PROGRAMS = [
    words_taken_off, words_under_two_names, words_of_each_turn, words_until_none_is_left,
    pairs_with_numbers_put_in, tokens_of_an_object, expression_in_parentheses, parsed_from_words,
    missing_in_text, rates_by_name, rate_that_is_missing,
]  # fmt: skip


@pytest.mark.parametrize("text", ["a ( b c ) a", "( ( a ) ) a"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_text_decides_what_is_computed_and_is_used_up_by_one_call_only(program, text):
    derive = wg.value_and_grad(program, argnums=1)
    for x in (0.7, 1.3, 0.7):
        slope = (program(text, x + 1e-5) - program(text, x - 1e-5)) / 2e-5
        assert derive(text, x) == (program(text, x), pytest.approx(slope, rel=1e-7))
        assert wg.pushforward(program, text, x)[1](None, 1.0) == pytest.approx(slope, rel=1e-7)


def test_globals_are_looked_up_by_name_only():
    def all_of_them(x):
        return x * len(list(globals().items()))

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(all_of_them)(1.0))
    says(error, "`globals()` is only looked into, by name")
