"""What programs learn of their own functions: parameters, names, callers; and modules that make their attributes."""

import functools
import inspect
import sys
import traceback
import types

import numpy as np
import pytest
import scipy.constants
from error_texts import refusal, says

import wengert as wg


def agrees(function, *args, mode="reverse"):
    """Gradients by both modes, compared with central differences."""
    argnums = tuple(range(len(args)))
    gradients = wg.grad(function, argnums)(*args)
    for k, gradient in enumerate(gradients):
        moved = lambda d, k=k: function(*(a + d * (i == k) for i, a in enumerate(args)))
        assert gradient == pytest.approx((moved(1e-6) - moved(-1e-6)) / 2e-6, rel=1e-6, abs=1e-9)
        tangents = [float(i == k) for i in argnums]
        assert wg.pushforward(function, *args)[1](*tangents) == pytest.approx(gradient, rel=1e-14)
    return gradients


# --- keyword arguments that are filtered ------------------------------------------------------


class Model:
    def __init__(self, func, names):
        self.func, self.names = func, names

    def eval(self, **kw):
        return self.func(**{n: v for n, v in kw.items() if n in self.names})


GRID = np.linspace(0, 1, 4)


def gauss(x, a, c):
    return np.sum(a * np.exp(-((x - c) ** 2)))


BY_LIST, BY_TUPLE = Model(gauss, ["x", "a", "c"]), Model(gauss, ("x", "a", "c"))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, c: BY_LIST.eval(x=GRID, a=a, c=c, unused=1),
        lambda a, c: BY_TUPLE.eval(x=GRID, a=a, c=c, unused=1),
        lambda a, c: Model(gauss, ["x", "a", "c"]).eval(x=GRID, a=a, c=c, unused=1),
    ],
)
def test_R4_arguments_filtered_by_name(function):
    assert agrees(function, 1.0, 0.3) == pytest.approx(
        agrees(lambda a, c: gauss(GRID, a, c), 1.0, 0.3)
    )


def test_R4_names_in_an_argument():
    found = wg.grad(lambda m, a: m.eval(x=GRID, a=a, c=0.3, unused=1), 1)(BY_LIST, 1.0)
    assert found == pytest.approx(wg.grad(lambda a: gauss(GRID, a, 0.3))(1.0))


def curve(x, rate=1.0, scale=2.0):
    return rate * np.exp(-scale * x)


def by_parameters(fun, **options):
    known = inspect.signature(fun).parameters
    return {k: v for k, v in options.items() if k in known}


def by_order(fun, **options):
    return {k: options[k] for k in list(inspect.signature(fun).parameters) if k in options}


def by_kind(fun, **options):
    parameters = inspect.signature(fun).parameters.values()
    names = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
    return {k: options[k] for k in options.keys() & set(names)}


def by_code(fun, **options):
    chosen = {}
    for name in options:  # noqa: PLC0206
        if name in fun.__code__.co_varnames[: fun.__code__.co_argcount]:
            chosen[name] = options[name]
    return chosen


def by_argspec(fun, **options):
    return {k: v for k, v in options.items() if k in inspect.getfullargspec(fun).args}


@pytest.mark.parametrize("keep", [by_parameters, by_order, by_kind, by_code, by_argspec])
def test_F4_arguments_filtered_by_signature(keep):
    filtered = lambda r, s: curve(0.3, **keep(curve, rate=r, scale=s, other=3))
    assert agrees(filtered, 1.0, 2.0) == agrees(lambda r, s: curve(0.3, r, s), 1.0, 2.0)
    given = wg.grad(lambda f, r: f(0.3, **keep(f, rate=r, scale=2.0, other=3)), 1)(curve, 1.5)
    assert given == pytest.approx(np.exp(-0.6))


def of_functions_of_the_program(r, s):
    f = lambda x, rate=2.0: x * rate * s
    g = functools.partial(curve, scale=3.0)
    known = len(inspect.signature(f).parameters) + inspect.signature(f).parameters["rate"].default
    return f(0.3, **by_parameters(f, rate=r, scale=s)) * known + g(0.3, **by_parameters(g, rate=r))


def test_signatures_of_functions_that_the_program_makes():
    agrees(of_functions_of_the_program, 1.5, 0.7)


@pytest.mark.parametrize("other", [np.sin, len, 3.0, "text", int, curve, Model])
def test_signatures_that_are_not_there(other):
    def described(x, f):
        try:
            return x * len(inspect.signature(f).parameters)
        except (TypeError, ValueError) as error:
            return x * len(type(error).__name__)

    assert wg.value_and_grad(described)(1.5, other)[0] == described(1.5, other)


# --- decorators -------------------------------------------------------------------------------


def filled(fn, *args, **kwargs):
    parameters = inspect.signature(fn).parameters.items()
    p = {k: args[n] if n < len(args) else v.default for n, (k, v) in enumerate(parameters)}
    p.update(kwargs)
    return p


def converting(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        args = list(args)
        args[0] = np.asarray(args[0])
        if filled(fn, *args, **kwargs)["gamma"] <= 1:
            raise ValueError("gamma")
        return fn(*args, **kwargs)

    return inner


def binding(fn):
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def inner(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.arguments["gamma"] <= 1:
            raise ValueError("gamma")
        return fn(*bound.args, **bound.kwargs)

    return inner


def pressure(M, gamma=1.4, *more, k=2.0):
    return np.sum(M**2 * gamma) * k + sum(more)


@pytest.mark.parametrize("decorator", [converting, binding])
def test_R5_decorators_that_look_at_the_signature(decorator):
    decorated = decorator(pressure)
    for call in (
        lambda M, g: decorated(M, gamma=g),
        lambda M, g: decorated(M, g),
        lambda M, g: decorated(M) * g,
        lambda M, g: decorated(M, gamma=g, k=M),
    ):
        agrees(call, 2.0, 1.3)
        with pytest.raises(ValueError, match="gamma"):
            wg.gradient(lambda M: decorated(M, 0.5), 2.0)
    found = wg.gradient(lambda M, g: decorated(M, gamma=g), np.array([1.0, 2.0]), 1.3)
    np.testing.assert_allclose(found[0], [5.2, 10.4])


def test_arguments_that_do_not_fit():
    with pytest.raises(TypeError, match="missing a required argument: 'M'"):
        wg.gradient(lambda g: binding(pressure)(gamma=g), 1.3)


# --- scikit-learn's way to get parameters -----------------------------------------------------


class Estimator:
    def __init__(self, rate=1.0, *, scale=2.0):
        self.rate, self.scale = rate, scale

    @classmethod
    def _get_param_names(cls):
        init = getattr(cls.__init__, "deprecated_original", cls.__init__)
        if init is object.__init__:
            return []
        parameters = [
            p
            for p in inspect.signature(init).parameters.values()
            if p.name != "self" and p.kind != p.VAR_KEYWORD
        ]
        for p in parameters:
            if p.kind == p.VAR_POSITIONAL:
                raise RuntimeError(f"{cls}")
        return sorted([p.name for p in parameters])

    def get_params(self, deep=True):
        out = dict()  # noqa: C408
        for key in self._get_param_names():
            value = getattr(self, key)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                deep_items = value.get_params().items()
                out.update((key + "__" + k, val) for k, val in deep_items)
            out[key] = value
        return out

    def by_argspec(self):
        spec = inspect.getfullargspec(self.__init__)
        return {n: getattr(self, n) for n in spec.args[1:] + spec.kwonlyargs}

    def by_signature(self):
        names = (p.name for p in inspect.signature(self.__init__).parameters.values())
        return {n: getattr(self, n) for n in names}


@pytest.mark.parametrize("way", ["get_params", "by_argspec", "by_signature"])
def test_R6_parameters_of_an_estimator(way):
    def cloned(r, s):
        first = Estimator(rate=r, scale=s)
        return (lambda e: e.rate * e.scale)(type(first)(**getattr(first, way)()))

    assert agrees(cloned, 2.0, 3.0) == (3.0, 2.0)
    held = wg.gradient(lambda e, r: Estimator(**getattr(e, way)()).rate * r, Estimator(2.0), 3.0)
    assert held[0].rate == 3.0
    assert held[1] == 2.0


# --- callers ----------------------------------------------------------------------------------

CALLERS = [
    lambda: inspect.currentframe().f_back.f_code.co_name,
    lambda: sys._getframe(1).f_code.co_name,
    lambda: inspect.stack()[1].function,
    lambda: traceback.extract_stack()[-2].name,
]


@pytest.mark.parametrize("who", CALLERS)
def test_F2_the_name_of_the_caller(who):
    def described(x):
        return x * (2.0 if who() == "described" else 3.0)

    for ask in (lambda: wg.grad(described)(1.5), lambda: wg.pushforward(described, 1.5)):
        says(refusal("WG101", NotImplementedError, ask), "the frames of the running program")


# --- modules that make their attributes -------------------------------------------------------


@pytest.fixture
def making(monkeypatch):
    module = types.ModuleType("making_its_attributes")
    module.__getattr__ = lambda name: getattr(scipy.constants, name)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_B_C1_attribute_of_a_module_with_its_own_getattr(making):
    def decided_by_its_run(x):
        n = np.random.default_rng(0).integers(3, 4)
        d = {}
        for k in range(n):
            d[str(k)] = x * k
        for key in list(d):
            if key == "0":
                del d[key]
        return sum(d.values()) * making.c * 1e-8

    assert wg.grad(decided_by_its_run)(1.5) == pytest.approx(
        3 * scipy.constants.c * 1e-8, rel=1e-15
    )
    assert wg.grad(lambda x: x * making.c)(1.5) == scipy.constants.c
    with pytest.raises(AttributeError):
        wg.grad(lambda x: x * making.nonsense)(1.5)
