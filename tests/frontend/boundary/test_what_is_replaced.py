"""What a program found outside itself and somebody replaces between two calls: the second call finds the new one."""

import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

import wengert as wg


class Meta(type):
    def __call__(cls, x):
        made = object.__new__(cls)
        made.x = 2 * x
        return made

    @property
    def of_meta(cls):
        return 2.0

    def method_of_meta(cls):
        return 2.0


class OfMeta(metaclass=Meta):
    pass


class Descriptor:
    def __get__(self, owner, cls):
        return 2 * owner.x

    def __set__(self, owner, value):
        owner.x = 2 * value


class Base:
    def __init__(self, x):
        self.x = x

    def method(self):
        return 2 * self.x

    @property
    def computed(self):
        return 2 * self.x

    @staticmethod
    def static(y):
        return 2 * y

    @classmethod
    def of_class(cls, y):
        return 2 * y

    @functools.singledispatchmethod
    def chosen(self, y):
        return 2 * self.x

    bound = functools.partialmethod(lambda self, k: self.x * k, 2)
    k = 2.0

    def __add__(self, other):
        return 2 * self.x

    def __getattr__(self, name):
        if name == "unnamed":
            return 2 * self.x
        raise AttributeError(name)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value if name == "doubled" else value)

    def __delattr__(self, name):
        object.__delattr__(self, name)

    def __new__(cls, *given):
        return object.__new__(cls)


class Derived(Base):
    described = Descriptor()


def _added_in_place(a):
    a += 1.0
    return a


def _assigned(a):
    a.doubled = a.x
    return a.doubled


def _deleted(a):
    a.other = 1.0
    del a.other
    return a.x


def _described(a):
    a.described = a.x
    return a.x


def _assigned_times_five(self, name, value):
    object.__setattr__(self, name, 5 * value if name == "doubled" else value)


def _deleted_and_x_times_five(self, name):
    object.__setattr__(self, "x", 5 * self.x)


IN_CLASSES: list[tuple[Any, str, Any, Callable[[Any], Any]]] = [
    (Base, "method", lambda self: 5 * self.x, lambda x: Derived(x).method()),
    (Derived, "method", lambda self: 5 * self.x, lambda x: Derived(x).method()),
    (Base, "computed", property(lambda self: 5 * self.x), lambda x: Base(x).computed),
    (Base, "static", staticmethod(lambda y: 5 * y), lambda x: Base(x).static(x)),
    (Base, "of_class", classmethod(lambda cls, y: 5 * y), lambda x: Base(x).of_class(x)),
    (Base, "of_class", classmethod(lambda cls, y: 5 * y), lambda x: Derived.of_class(x)),
    (Derived, "of_class", classmethod(lambda cls, y: 5 * y), lambda x: Derived.of_class(x)),
    (Base, "chosen", lambda self, y: 5 * self.x, lambda x: Base(x).chosen(x)),
    (Base, "bound", lambda self: 5 * self.x, lambda x: Base(x).bound()),
    (Base, "k", 5.0, lambda x: Base(x).k * x),
    (Derived, "k", 5.0, lambda x: Derived.k * x),
    (Base, "__add__", lambda self, other: 5 * self.x, lambda x: Base(x) + 1.0),
    (Base, "__iadd__", lambda self, other: 5 * self.x, lambda x: _added_in_place(Base(x))),
    (Base, "__getattr__", lambda self, name: 5 * self.x, lambda x: Base(x).unnamed),
    (Base, "__setattr__", _assigned_times_five, lambda x: _assigned(Base(x))),
    (Base, "__delattr__", _deleted_and_x_times_five, lambda x: _deleted(Base(x))),
    (Base, "__new__", lambda cls, x: OfMeta(x), lambda x: Base(x).x),
    (Base, "added", 5.0, lambda x: getattr(Base, "added", 2.0) * x),
    (Base, "added", 5.0, lambda x: getattr(Derived(x), "added", 2.0) * x),
    (Base, "added", 5.0, lambda x: 5 * x if hasattr(Base(x), "added") else 2 * x),
    (Meta, "__call__", lambda cls, x: Base(x), lambda x: OfMeta(x).x),
    (Meta, "of_meta", property(lambda cls: 5.0), lambda x: OfMeta.of_meta * x),
    (Meta, "method_of_meta", lambda cls: 5.0, lambda x: OfMeta.method_of_meta() * x),
    (Descriptor, "__get__", lambda self, a, cls: 5 * a.x, lambda x: Derived(x).described),
    (Descriptor, "__set__", lambda self, a, v: setattr(a, "x", 5 * v), lambda x: _described(Derived(x))),
    (Derived, "described", property(lambda self: 5 * self.x), lambda x: Derived(x).described),
]  # fmt: skip

A_MODULE = types.ModuleType("a_module")
AN_OBJECT = types.SimpleNamespace()


def helper(x, k=2.0):
    return x * k


def by_keyword(x, *, k=2.0):
    return x * k


PARTIAL = functools.partial(helper, k=2.0)

ELSEWHERE: list[tuple[Any, str, Any, Callable[[Any], Any]]] = [
    (A_MODULE, "added", 5.0, lambda x: getattr(A_MODULE, "added", 2.0) * x),
    (A_MODULE, "added", 5.0, lambda x: 5 * x if hasattr(A_MODULE, "added") else 2 * x),
    (AN_OBJECT, "added", 5.0, lambda x: getattr(AN_OBJECT, "added", 2.0) * x),
    (helper, "__defaults__", (5.0,), lambda x: helper(x)),
    (helper, "__code__", (lambda x, k: 5 * x).__code__, lambda x: helper(x)),
    (by_keyword, "__kwdefaults__", {"k": 5.0}, lambda x: by_keyword(x)),
]


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("owner", "name", "new", "f"), IN_CLASSES + ELSEWHERE)
def test_what_replaces_it_is_found(owner, name, new, f, jit, monkeypatch):
    derivative = wg.jit(wg.value_and_grad(f)) if jit else wg.value_and_grad(f)
    before = derivative(3.0)
    assert before[0] == f(3.0)
    monkeypatch.setattr(owner, name, new, raising=False)
    after = derivative(3.0)
    assert after[0] == f(3.0) != before[0]
    assert after[1] == pytest.approx(f(3.5) - f(2.5))


def its_absolute_value(x):
    return abs(x) + x


@pytest.mark.parametrize("jit", [False, True])
def test_a_global_that_hides_a_function_of_pythons_is_found(jit, monkeypatch):
    derivative = wg.value_and_grad(its_absolute_value)
    derivative = wg.jit(derivative) if jit else derivative
    assert derivative(3.0) == (6.0, 2.0)
    monkeypatch.setitem(globals(), "abs", lambda x: 4 * x)
    assert derivative(3.0) == (15.0, 5.0)


def test_an_argument_that_a_partial_function_has_is_found():
    derivative = wg.value_and_grad(lambda x: PARTIAL(x))
    assert derivative(3.0) == (6.0, 2.0)
    PARTIAL.keywords["k"] = 5.0
    assert derivative(3.0) == (15.0, 5.0)
    PARTIAL.__setstate__((helper, (), {"k": 7.0}, {}))
    assert derivative(3.0) == (21.0, 7.0)


class Counted:
    k = 1.0


def assigned_and_shown(x):
    Counted.k = x
    return vars(Counted)["k"] * x


def shown_and_assigned(x):
    kept = Counted.__dict__["k"]
    Counted.k = x
    return kept * x


def assigned_and_asked(x):
    Counted.new = x
    return getattr(Counted(), "new", 1.0) * x


class Parameters:
    k = 2.0


def test_what_the_dictionary_of_a_class_holds_is_found(monkeypatch):
    programs = [
        lambda x: vars(Parameters)["k"] * x,
        lambda x: sum(v for v in vars(Parameters).values() if isinstance(v, float)) * x,
        lambda x: Parameters.__dict__["new"] * x if "new" in Parameters.__dict__ else 2.0 * x,
    ]
    derivatives = [wg.value_and_grad(f) for f in programs]
    assert [d(3.0) for d in derivatives] == [(6.0, 2.0)] * 3
    monkeypatch.setattr(Parameters, "k", 5.0)
    monkeypatch.setattr(Parameters, "new", 4.0, raising=False)
    assert [d(3.0) for d in derivatives] == [(15.0, 5.0), (27.0, 9.0), (12.0, 4.0)]


def test_what_a_program_assigns_to_a_class_is_not_what_its_dictionary_was():
    for f in (assigned_and_shown, shown_and_assigned):
        with pytest.raises(wg.WengertError, match="the `__dict__` of Counted, whose attributes"):
            wg.grad(f)(3.0)
    assert wg.value_and_grad(assigned_and_asked)(3.0) == (9.0, 6.0)
    del Counted.new
