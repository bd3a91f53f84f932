"""Values of every kind that programs ask questions about, and what defines them: source, for a module of its own."""

DEFINITIONS = '''
import dataclasses, functools, inspect, math, numbers, operator, types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import *
import numpy as np

Pair = namedtuple("Pair", ["a", "b"])

@dataclasses.dataclass
class Data:
    """Fields."""
    a: float
    b: float = 1.0

class Plain:
    """An object."""
    level = 3
    def __init__(self, a): self.a = a
    def scaled(self, t): return self.a * t
    @property
    def twice(self): return 2 * self.a
    @classmethod
    def make(cls, a): return cls(a)

class Slotted:
    __slots__ = ("a", "unset")
    def __init__(self, a): self.a = a

class Called:
    def __init__(self, a): self.a = a
    def __call__(self, t): return self.a * t

class Sized:
    def __init__(self, a): self.a = a
    def __len__(self): return 2
    def __iter__(self): return iter((self.a, self.a))
    def __getitem__(self, i): return (self.a, self.a)[i]

class Unhashable:
    def __init__(self, a): self.a = a
    def __eq__(self, other): return True

class Answering:
    def __init__(self, a): self.a = a
    def __getattr__(self, name):
        if name == "shape": return (1,)
        raise AttributeError(name)

class OwnDict(dict): pass
class OwnList(list): pass
class OwnFloat(float): pass

def top(t, k=1.0):
    """A function."""
    return t * k

nameless = lambda t: t

def pair_of(t):
    yield t
    yield 2 * t

def keywords(**given): return given
'''

MADE = {
    "float": "x * 1.5", "int": "int(x) + 2", "bool": "x > 1", "complex": "x * 1j", "np.float64": "np.float64(x * 2)",
    "a reduction": "np.sum(np.ones(2) * x)", "0-d": "np.array(x)", "1-d": "np.array([x, 2 * x])",
    "2-d": "np.ones((2, 2)) * x", "integers": "np.arange(3)", "str": "'abc'", "formatted": "f'{x:.1f}'", "None": "None",
    "bytes": "b'abc'", "list": "[x, 2.0]", "comprehension": "[x * i for i in range(3)]", "tuple": "(x, 2.0)",
    "dict": "{'a': x}", "set": "{1, 2}", "empty list": "[]", "OrderedDict": "OrderedDict(a=x)",
    "defaultdict": "defaultdict(list)", "deque": "deque([x])", "namedtuple": "Pair(x, 2.0)", "dataclass": "Data(x)",
    "object": "Plain(x)", "slots": "Slotted(x)", "called": "Called(x)", "sized": "Sized(x)",
    "unhashable": "Unhashable(x)",
    "__getattr__": "Answering(x)", "own dict": "OwnDict(a=x)", "own list": "OwnList([x])", "keywords": "keywords(a=x)",
    "class": "Plain", "class of a namedtuple": "Pair", "built-in class": "float", "function": "top",
    "lambda": "lambda t: t * x", "global lambda": "nameless", "built-in": "len", "ufunc": "np.sin",
    "bound method": "Plain(x).scaled", "class method": "Plain.make", "partial": "functools.partial(top, k=x)",
    "module": "math", "generator": "pair_of(x)", "expression": "(x * i for i in range(3))", "range": "range(3)",
    "keys": "{'a': x}.keys()", "values": "{'a': x}.values()", "items": "{'a': x}.items()", "zip": "zip([1], [x])",
    "map": "map(top, [x])", "enumerate": "enumerate([x])", "reversed": "reversed([x])", "iterator": "iter([x])",
    "slice": "slice(1, 3)", "ellipsis": "...", "dtype": "np.dtype(float)", "exception": "ValueError(x)",
    "no keys": "{}.keys()", "no values": "{}.values()", "no items": "{}.items()", "no dict": "{}",
}  # fmt: skip
"""Made in the program, from its argument."""

GIVEN = {
    "float": "1.5", "int": "3", "bool": "True", "complex": "1j", "np.float64": "np.float64(2.0)",
    "np.float32": "np.float32(1.0)", "np.int64": "np.int64(2)", "np.bool_": "np.bool_(True)", "0-d": "np.array(1.5)",
    "1-d": "np.array([1.0, 2.0])", "2-d": "np.ones((2, 2))", "integers": "np.arange(3)", "str": "'abc'", "None": "None",
    "bytes": "b'abc'", "list": "[1.0, 2.0]", "list of two kinds": "[1.0, 'a']", "tuple": "(1.0, 2.0)",
    "dict": "{'a': 1.0}", "set": "{1, 2}", "empty list": "[]", "empty dict": "{}", "OrderedDict": "OrderedDict(a=1.0)",
    "defaultdict": "defaultdict(list)", "deque": "deque([1.0])", "namedtuple": "Pair(1.0, 2.0)",
    "dataclass": "Data(1.0)",
    "object": "Plain(1.0)", "slots": "Slotted(1.0)", "called": "Called(1.0)", "sized": "Sized(1.0)",
    "unhashable": "Unhashable(1.0)", "__getattr__": "Answering(1.0)", "own dict": "OwnDict(a=1.0)",
    "own list": "OwnList([1.0])", "own float": "OwnFloat(1.0)", "class": "Plain", "class of a namedtuple": "Pair",
    "built-in class": "float", "function": "top", "lambda": "lambda t: t", "built-in": "len", "ufunc": "np.sin",
    "bound method": "Plain(1.0).scaled", "class method": "Plain.make", "partial": "functools.partial(top, k=2.0)",
    "module": "math", "range": "range(3)", "keys": "{'a': 1.0}.keys()", "values": "{'a': 1.0}.values()",
    "slice": "slice(1, 3)", "ellipsis": "...", "dtype": "np.dtype(float)", "generator": "pair_of(1.0)",
    "iterator": "iter([1.0])", "exception": "ValueError(1.0)",
}  # fmt: skip
"""Given to the program as an argument."""

NAMES = (
    "__call__ __name__ __qualname__ __dict__ __mro__ mro __bases__ __base__ __module__ __subclasses__ __basicsize__ "
    "__text_signature__ __annotations__ __weakref__ __doc__ __class__ __len__ __iter__ __next__ __getitem__ "
    "__setitem__ __contains__ __array__ __float__ __int__ __index__ __hash__ __eq__ __add__ __slots__ __self__ "
    "__wrapped__ __code__ __abs__ __bool__ __reversed__ __copy__ shape dtype ndim real conjugate is_integer tolist "
    "items keys append count index upper a level twice unset _fields func send start pi values name nonsense"
).split()

CLASSES = (
    "float int bool complex str bytes list tuple dict set object type type(None) range slice np.ndarray np.floating "
    "np.generic np.integer np.float64 numbers.Number numbers.Real numbers.Integral Callable Hashable Iterable Iterator "
    "Sized Container Collection Sequence MutableSequence Mapping MutableMapping Set Reversible Generator KeysView "
    "ValuesView Plain Pair Data types.FunctionType types.MethodType types.ModuleType functools.partial OrderedDict "
    "deque zip property"
).split()

ASKED = (
    *(f"hasattr(w, {name!r})" for name in NAMES),
    *(f"getattr(w, {name!r}, None) is None" for name in (*NAMES[:9], "shape", "a", "level", "real", "nonsense")),
    *(f"isinstance(w, {cls})" for cls in CLASSES),
    *(f"issubclass(type(w), {cls})" for cls in CLASSES[::3]),
    *(f"type(w) is {cls}" for cls in CLASSES[:16]),
    "isinstance(w, (int, float))", "isinstance(w, int | float)", "callable(w)", "w.__class__ is type(w)",
    "inspect.isfunction(w)", "inspect.ismethod(w)", "inspect.isclass(w)", "inspect.ismodule(w)",
    "inspect.isgenerator(w)",
    "np.isscalar(w)", "np.iterable(w)", "np.ndim(w) == 0", "dataclasses.is_dataclass(w)", "w is None",
    "'shape' in dir(w)", "'__call__' in dir(w)", "w.__doc__ is None", "float in type(w).__mro__",
    "w.__class__.__name__ == 'float'", "type(w).__name__ in ('list', 'str')", "w", "bool(w)", "not w", "w and True",
)  # fmt: skip
"""Questions whose answer is a truth value, about `w`."""

TRIED = {
    "w.name = 'n'": "AttributeError", "setattr(w, 'name', 1.0)": "AttributeError", "w.a = 2.0": "AttributeError",
    "w.__doc__ = 'd'": "AttributeError", "w.real = 2.0": "(AttributeError, TypeError)", "del w.name": "AttributeError",
    "del w.a": "AttributeError", "delattr(w, 'name')": "AttributeError", "w.name": "AttributeError",
    "w.__name__": "AttributeError", "w.a": "AttributeError", "w.__call__": "AttributeError",
    "w.__dict__": "AttributeError", "w.shape": "AttributeError", "w.__module__": "AttributeError",
    "w.__len__": "AttributeError", "w.nonsense": "AttributeError", "len(w)": "TypeError", "iter(w)": "TypeError",
    "hash(w)": "TypeError", "dir(w)": "TypeError", "vars(w)": "TypeError", "float(w)": "(TypeError, ValueError)",
    "operator.index(w)": "TypeError", "w[0]": "(TypeError, KeyError, IndexError)",
    "w['a']": "(TypeError, KeyError, IndexError, ValueError)", "w + 1": "TypeError",
    "w(1.0)": "(TypeError, AttributeError, ValueError)", "inspect.signature(w)": "(TypeError, ValueError)",
    "for _ in w: pass": "TypeError", "a, *b = w": "(TypeError, ValueError)", "1.0 in w": "TypeError",
    "w < 2.0": "TypeError", "next(w)": "(TypeError, StopIteration)",
}  # fmt: skip
"""Statements that some values allow, and what Python raises of others."""
