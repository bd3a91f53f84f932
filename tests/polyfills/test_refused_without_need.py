"""What was refused without need: bases that `@dataclass` wrote, `locals()`, functions of NumPy and SciPy."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import wengert as wg


def slopes(f, x=0.7):
    """The derivative at a point, in every mode; they agree with central differences."""
    step = 1e-6
    right = (f(x + step) - f(x - step)) / (2 * step)
    found = {
        "reverse": wg.grad(f)(x),
        "forward": wg.pushforward(f, x)[1](1.0),
        "pullback": wg.pullback(f, x)[1](1.0)[0],
        "nested": wg.grad(lambda x: wg.value_and_grad(f)(x)[0])(x),
    }
    for mode, slope in found.items():
        assert slope == pytest.approx(right, rel=1e-6), mode
    curvature = (f(x + 1e-4) - 2 * f(x) + f(x - 1e-4)) / 1e-8
    assert wg.hessian(f)(x) == pytest.approx(curvature, rel=1e-4, abs=1e-5)


@dataclass
class Base:
    a: float
    b: float = 2.0
    c: list = field(default_factory=list)
    scale: InitVar[float] = 1.0

    def __post_init__(self, scale):
        self.area = self.a * self.b * scale


class Sub(Base):
    def __init__(self, a, k):
        super().__init__(a, b=k * 2.0, scale=3.0)
        self.c.append(a * a)
        self.k = k

    def value(self):
        return self.area * self.b + self.k * self.c[0]


@dataclass
class Further(Base):
    d: float = 0.0

    def __post_init__(self, scale):
        super().__post_init__(scale)
        self.d = self.a * self.a


class Furthest(Further):
    def __init__(self, a):
        Base.__init__(self, a)
        super().__init__(a, 1.5)


@dataclass(frozen=True)
class Fixed:
    a: float


class FixedSub(Fixed):
    def __init__(self, a):
        super().__init__(a * a)


def of_a_base(x):
    return Sub(x, 3.0).value()


def called_twice(x):
    found = Furthest(x)
    return found.d * found.b + found.area


def frozen(x):
    return FixedSub(x).a ** 2


def made_inside(x):
    @dataclass
    class Inner:
        a: float

    class Outer(Inner):
        def __init__(self, a):
            super().__init__(a * 2)
            self.z = a

    made = Outer(x)
    return made.a * made.z


def in_a_branch(x):
    found = Sub(x, 1.0)
    if x > 0.5:
        Base.__init__(found, x * x)
    return found.area * found.b


@pytest.mark.parametrize("f", [of_a_base, called_twice, frozen, made_inside, in_a_branch])
def test_F4_the_init_of_a_base_that_is_a_dataclass(f):
    slopes(f)


def by_name(x):
    y = x * x
    found = locals()
    return found["y"] * found["x"]


def all_of_them(x):
    y, z = 2 * x, 3 * x * x
    return sum(locals().values()) * x + len("{x}{y}{z}".format(**locals())) * 0


def of_a_closure(x):
    scale = x * x

    def inner(t):
        u = t * scale
        return sum(locals().values()) * u

    return inner(x)


def with_more(x):
    found = dict(locals(), extra=x * x)
    return found["extra"] * found["x"]


@pytest.mark.parametrize("f", [by_name, all_of_them, of_a_closure, with_more])
def test_F4_locals(f):
    slopes(f)


def may_be_bound(x):
    if x > 0.5:
        y = x * x
    return locals().get("y", 1.0) * x


def test_locals_where_only_the_run_knows_which_there_are():
    assert wg.grad(may_be_bound)(0.7) == pytest.approx(3 * 0.7**2)
    assert wg.grad(may_be_bound)(0.3) == pytest.approx(1.0)


# --- functions of NumPy and SciPy ------------------------------------------------------------


def divmod_into_two(x):
    a, q, r = np.array([x, 2.1 * x, 5.0]), np.empty(3), np.empty(3)
    np.divmod(a, np.array([0.3, 0.8, 1.1]), q, r)
    return np.sum(r * r * a) + np.sum(q)


def divmod_into_a_pair(x):
    a, out = np.array([x, 2.1 * x]), (np.empty(2), np.empty(2))
    whole, rest = np.divmod(a, 0.33, out=out)
    return np.sum(out[1] * a + rest * whole)


def modf_into_two(x):
    a, fraction, whole = np.array([x, 3.1 * x]), np.empty(2), np.empty(2)
    np.modf(a, fraction, whole)
    return np.sum(fraction * a * (1 + whole))


def written_out(x):
    a = np.array([x, 2 * x])
    b = a.__imul__(x)
    b.__iadd__(np.array([x, 1.0]))
    a.__itruediv__(3.0)
    a.__ipow__(2)
    a.__isub__(x)
    return np.sum(a * a)


def into_a_squeezed_view(x):
    a = np.zeros((1, 3))
    np.multiply(np.array([x, x, 2 * x]), x, out=np.squeeze(a))
    return np.sum(a * a)


def powers(x):
    return np.sum(np.power.accumulate(np.array([1 + x, 2.0, 1.5]))) + np.power.reduce([1 + x, 2.0])


def sign_of_gamma(x):
    return special.gammasgn(x - 2) * x * x


def entropy(x):
    cov = np.array([[1 + x, 0.2 * x], [0.2 * x, 2.0]])
    frozen = stats.multivariate_normal(np.zeros(2), cov)
    return frozen.entropy() + stats.multivariate_normal.entropy(np.zeros(2), cov) * x


def required(x):
    a = np.require(np.array([x, x * x]), dtype=float, requirements="C")
    b = np.require([x, 1.0], requirements=["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])
    return np.sum(a**2) + np.sum(b * a)


def one_by_one(x):
    total = 0.0
    for each in np.nditer(np.array([[x, 2.0], [x * x, 3.0]]), flags=["refs_ok"]):
        total = total + each * each
    return total


@pytest.mark.parametrize(
    "f",
    [
        divmod_into_two, divmod_into_a_pair, modf_into_two, written_out, into_a_squeezed_view, powers,
        sign_of_gamma, entropy, required, one_by_one,
    ],
)  # fmt: skip
def test_E6_and_R7_functions(f):
    slopes(f)


W = np.array([0.3, 1.7, 0.9, 2.2, 1.4, 0.6, 3.1, 0.2, 1.1, 2.7, 0.4, 1.9])
MODES = (
    "linear_ramp",
    "mean",
    "median",
    "maximum",
    "minimum",
    "empty",
    "odd reflect",
    "odd symmetric",
)
WIDTHS = (2, (1, 3), (0, 2))


def padded(x, mode, widths, shape, **options):
    a = np.array([x, 2 * x * x, 0.4, 3 * x, 0.9, 1.1]).reshape(shape)
    kind, _, name = mode.rpartition(" ")
    if kind:
        options["reflect_type"] = "odd"
    inside = np.pad(a, widths, name, **options)
    if name == "empty":
        inside = inside[tuple(slice(2, 4) for _ in shape)]
    return np.sum(inside * inside * np.resize(W, inside.shape))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("shape", [(6,), (3, 2)])
def test_E6_modes_of_pad(mode, widths, shape):
    if "reflect" in mode and (shape == (3, 2) or widths == (1, 3)):
        widths = 1
    if "symmetric" in mode and shape == (3, 2):
        widths = (1, 2)
    if mode == "empty":
        widths = 2
    slopes(lambda x: padded(x, mode, widths, shape))


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("linear_ramp", {"end_values": (1.0, -2.0)}),
        ("mean", {"stat_length": 2}),
        ("median", {"stat_length": (3, 1)}),
        ("maximum", {"stat_length": (1, 2)}),
    ],
)
def test_E6_options_of_pad(mode, options):
    slopes(lambda x: padded(x, mode, (2, 3), (6,), **options))


def test_pads_of_whole_numbers_are_those_of_numpy():
    def f(x):
        return x * np.sum(np.pad(np.array([1, 2, 4]), 2, "mean"))

    assert wg.grad(f)(2.0) == np.sum(np.pad(np.array([1, 2, 4]), 2, "mean"))


def through_a_diagonal(x):
    F = np.zeros((2, 3, 3)) + x
    np.einsum("ijj->ij", F)[...] = np.array([x, x * x, 2.0])
    np.einsum("ijj->ij", F)[0] *= x
    return np.sum(F * F * np.resize(W, F.shape))


def through_a_transposition(x):
    F = np.zeros((2, 3)) + x
    np.einsum("ij->ji", F)[1, :] = np.array([x, x * x])
    np.einsum("ij -> ji", F)[2, 0] += x * x
    return np.sum(F * F * np.resize(W, F.shape))


def of_an_argument_changed(x):
    def fill(F):
        np.einsum("ii->i", F)[1:] = x

    F = np.ones((3, 3)) * x
    fill(F)
    return np.sum(F**3)


@pytest.mark.parametrize("f", [through_a_diagonal, through_a_transposition, of_an_argument_changed])
def test_R2_writing_through_the_view_of_einsum(f):
    slopes(f)


# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rate.txt").write_text("2.5\n1.5\n")
    return tmp_path


def test_F4_paths(folder):
    def read(x):
        return x * x * float(Path(folder, "rate.txt").read_text().split()[0])

    def by_lines(x):
        path = folder / "rate.txt"
        if not path.exists():
            return x
        with path.open() as lines:
            return x * x * sum(float(line) for line in lines)

    def named(x, name="rate"):
        rows = Path(f"{folder}/{name}.txt").read_text().splitlines()
        return x * x * float(rows[1]) * len(rows) * len(Path(folder).name)

    for f in (read, by_lines, named):
        slopes(f)


def number_or_file(x):
    try:
        with open(x) as file:
            return float(file.read())
    except TypeError:
        return x * x


def number_or_path(x):
    try:
        return x * float(Path(x).read_text())
    except TypeError:
        return x * x


@pytest.mark.parametrize("f", [number_or_file, number_or_path])
def test_F4_a_number_or_a_file(f):
    slopes(f)
