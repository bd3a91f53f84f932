"""Programs that text drives: token lists that are eaten up, parsers with a position, functions looked up by name."""

from __future__ import annotations

import copy
import functools
import io
import json
import math
import operator
import pickle
import re
import struct
import unicodedata
from collections import Counter, OrderedDict

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


class Weighted:
    def __init__(self, weight):
        self.weight, self.parts = weight, OrderedDict()


class Stack(Weighted):
    def __init__(self, *layers):
        super().__init__(1.0)
        for k, layer in enumerate(layers):
            self.parts[f"layer{k}"] = layer


def named_by_their_numbers(x):
    stack = Stack(Weighted(x), Weighted(2 * x))
    return stack.parts["layer0"].weight * sum(layer.weight for layer in stack.parts.values())


def test_text_with_known_numbers_in_it_is_known():
    assert wg.grad(named_by_their_numbers)(1.5) == 9.0
    assert "layer" not in wg.grad(named_by_their_numbers).specialize(1.5).source

    def with_a_bad_format(x):
        return x * len(f"{'a':d}")

    with pytest.raises(ValueError, match="format code 'd'"):
        wg.grad(with_a_bad_format)(1.0)


MECHANISM = """
    H2 + O -> H + OH ; 1.2 0.3
    OH + H -> H2 + O ; 0.4 0.1
    2 OH -> H2O + O ; 2.0 0.2   # recombination
"""


def side(text):
    amounts = Counter()
    for term in text.split("+"):
        words = term.split()
        amount, name = (int(words[0]), words[1]) if len(words) == 2 else (1, words[0])
        amounts[name] += amount
    return amounts


def reactions_in_a_text(x):
    total = 0.0
    for line in MECHANISM.strip().splitlines():
        left, _, rest = line.partition("#")[0].partition("->")
        right, _, numbers = rest.partition(";")
        rate, barrier = map(float, numbers.split())
        for name, amount in side(left).items():
            total += rate * x ** (amount + barrier) * side(right)["OH" if name == "H2" else "O"]
    return total


def test_a_model_in_a_text_of_the_module_is_read_with_the_program():
    slope = (reactions_in_a_text(1.3 + 1e-6) - reactions_in_a_text(1.3 - 1e-6)) / 2e-6
    assert wg.grad(reactions_in_a_text)(1.3) == pytest.approx(slope, rel=1e-7)


def test_globals_are_looked_up_by_name_only():
    def all_of_them(x):
        return x * len(list(globals().items()))

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(all_of_them)(1.0))
    says(error, "`globals()` is only looked into, by name")


# --- regular expressions, JSON, and tables of classes --------------------------------------


TOKEN = re.compile(r"\s*(?:(?P<number>\d+\.?\d*)|(?P<name>[a-z]+)|(?P<sign>[-+*^()]))")


class Formula:
    """A parser by precedence, whose table is an attribute of its class."""

    STRENGTH = {"+": (1, "left"), "-": (1, "left"), "*": (2, "left"), "^": (3, "right")}  # noqa: RUF012
    OPERATION = {"+": operator.add, "-": operator.sub, "*": operator.mul, "^": operator.pow}  # noqa: RUF012

    def __init__(self, text):
        self.tokens = [(m.lastgroup, m.group(m.lastgroup)) for m in TOKEN.finditer(text)]
        self.place = 0

    def next(self):
        self.place += 1
        return self.tokens[self.place - 1]

    def sign(self):
        return self.tokens[self.place][1] if self.place < len(self.tokens) else None

    def value(self, x, floor=0):
        left = self.first(x)
        while (sign := self.sign()) in self.STRENGTH:
            strength, side = self.STRENGTH[sign]
            if strength < floor or (strength == floor and side == "left"):
                break
            self.next()
            left = self.OPERATION[sign](left, self.value(x, strength))
        return left

    def first(self, x):
        match self.next():
            case ("number", digits):
                return float(digits)
            case ("name", "sin"):
                return math.sin(self.first(x))
            case ("name", _):
                return x
            case ("sign", "("):
                inner = self.value(x)
                self.next()
                return inner
            case (_, sign):
                raise SyntaxError(f"unexpected {sign}")


def formula(text, x):
    return Formula(text).value(x)


def found_in_text(text, x):
    total = sum(x ** float(m[1]) for m in re.finditer(r"x\^(\d)", text))
    head = re.match(r"(\d+)\*", text)
    return total * (float(head.group(1)) if head else x) + len(re.findall("x", text)) * x


class Layer:
    kinds = {}  # noqa: RUF012

    def __init_subclass__(cls, kind, **rest):
        super().__init_subclass__(**rest)
        Layer.kinds[kind] = cls


class Affine(Layer, kind="affine"):
    def __init__(self, w, b=0.0):
        self.w, self.b = w, b

    def __call__(self, x):
        return self.w * x + self.b


class Squash(Layer, kind="squash"):
    def __call__(self, x):
        return math.tanh(x)


class Again(Layer, kind="again"):
    def __init__(self, times, layers):
        self.times, self.layers = times, layer_from(layers)

    def __call__(self, x):
        for _ in range(self.times):
            x = self.layers(x)
        return x


def layer_from(described):
    match described:
        case {"type": str(kind), **rest}:
            return Layer.kinds[kind](**rest)
        case [*layers]:
            made = map(layer_from, layers)
            return functools.reduce(lambda f, g: lambda x: g(f(x)), made)


DESCRIBED = json.loads(
    '[{"type": "affine", "w": 0.5}, {"type": "again", "times": 2, "layers": [{"type": "squash"},'
    ' {"type": "affine", "w": 1.5, "b": 0.2}]}]'
)


def described_network(text, x):
    described = copy.deepcopy(DESCRIBED)
    described[0]["w"] = x
    described[1]["layers"][1].update(b=len(text) * x)
    return layer_from(described)(0.3)


def read_from_json(text, x):
    rates = json.loads('{"a": 0.5, "b": [1.5, 2.0]}')
    rates["b"].append(x)
    return sum(rates["b"]) * rates["a"] * len(text) * x


class Named:
    """Values by name, however the name is written: as many registries of methods have it."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, name):
        try:
            return self.values[name]
        except KeyError:
            pass
        try:
            return self[dict(zip(self.lower(), self.values, strict=True))[str(name).lower()]]
        except KeyError:
            pass
        return self[dict(zip(self.slugs(), self.values, strict=True))[name]]

    def lower(self):
        lower = [str(name).lower() for name in self.values]
        yield from iter(lower)

    def slugs(self):
        slugs = [slug_of(name) for name in self.lower()]
        yield from iter(slugs)


def slug_of(name):
    plain = unicodedata.normalize("NFKD", str(name)).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.lower())).strip("-_")


EXPONENTS = Named({"Power 1976": [1.26, 2.5], "Root (square)": [1.5, 0.5]})


def looked_up(name, x):
    factor, exponent = EXPONENTS[name]
    return factor * x**exponent


FOUND = [
    (formula, "2*x^2 - sin(x)*(3 + x) - 1", 0.7),
    (formula, "x^2^x*3", 1.2),
    (found_in_text, "3*x^2+x^3", 1.3),
    (found_in_text, "x^2", 1.3),
    (described_network, "abc", 0.4),
    (read_from_json, "abc", 1.1),
    (looked_up, "Power 1976", 1.3),
    (looked_up, "power 1976", 1.3),
    (looked_up, "root-square", 1.3),
]


@pytest.mark.parametrize(("program", "text", "x"), FOUND)
def test_what_is_found_in_text_drives_a_program(program, text, x):
    expected = (program(text, x + 1e-6) - program(text, x - 1e-6)) / 2e-6
    assert wg.grad(program, argnums=1)(text, x) == pytest.approx(expected, rel=1e-7)
    assert wg.grad(lambda x: program(text, x))(x) == pytest.approx(expected, rel=1e-7)
    assert wg.pushforward(program, text, x)[1](None, 1.0) == pytest.approx(expected, rel=1e-7)


def test_text_that_does_not_fit_raises_what_the_program_raises():
    with pytest.raises(SyntaxError, match=r"unexpected \*"):
        wg.grad(formula, argnums=1)("2**x", 1.0)


def through_json(x):
    stream = io.StringIO()
    json.dump([x], stream)
    stream.seek(0)
    return json.load(stream)[0]


def through_pickle(x):
    stream = io.BytesIO()
    pickle.dump({"w": x}, stream)
    stream.seek(0)
    return pickle.load(stream)["w"] * 2


def through_bytes(x):
    stream = io.BytesIO()
    stream.write(struct.pack("d", x))
    return struct.unpack("d", stream.getvalue())[0]


@pytest.mark.parametrize("f", [through_json, through_pickle, through_bytes])
@pytest.mark.parametrize("tier", [{}, {"tier": "static"}, {"tier": "recorded"}])
def test_what_comes_back_from_a_stream_has_no_derivative(f, tier):
    with pytest.raises(wg.WengertError):
        wg.grad(f, **tier)(0.7)


@pytest.mark.parametrize("tier", [{}, {"tier": "recorded"}])
def test_what_is_kept_in_a_stream(tier):
    """A checkpoint may be written in the middle, and settings read."""

    def f(x):
        stream = io.BytesIO()
        pickle.dump({"w": x}, stream)
        settings = json.load(io.StringIO('{"rate": 2.0}'))
        return x**2 * settings["rate"] * (len(stream.getvalue()) > 0)

    assert wg.grad(f, **tier)(0.7) == pytest.approx(2.8)


def polynomial(coefficients, x):
    total = 0.0
    for name, c in coefficients.items():
        total += c * x ** int(name[1:]) * float(name.replace("c", "1"))
    return total


def test_numbers_in_known_texts_are_known():
    value, (bars, slope) = wg.value_and_grad(polynomial, (0, 1))({"c0": 1.0, "c3": -2.0}, 0.5)
    assert value == 10.0 - 26.0 * 0.125
    assert bars == {"c0": 10.0, "c3": 13.0 * 0.125}
    assert slope == -78.0 * 0.25
    text = wg.grad(polynomial, 1).specialize({"c0": 1.0, "c3": -2.0}, 0.5).source
    assert "int(" not in text
    assert "x**2" in text


@pytest.mark.parametrize("text", ["three", "", "0x10"])
def test_texts_that_are_no_number_raise_when_the_program_runs(text):
    with pytest.raises(ValueError, match="invalid literal"):
        wg.grad(lambda x: x * int(text))(0.5)
