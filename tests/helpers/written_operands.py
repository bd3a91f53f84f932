"""Programs that call an op and then write to what it was given or gave: one for every op and way to write.

The ops come from the registry and what they are called with from the samples of the rules, so that a new
op has such programs as soon as it has samples.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import samples_arrays
import samples_reduction
import samples_scalar

from wengert.ops import registry

SAMPLES: dict[str, list[Any]] = {}
for _module in (samples_scalar, samples_reduction, samples_arrays):
    for _name, _samples in _module.SAMPLES.items():
        SAMPLES.setdefault(_name, []).extend(_samples)

WAYS = {
    "scaled": "{t} *= 0.5",
    "power": "{t} **= 2",
    "item": "{t}[{first}] = 0.25",
    "slice": "{t}[..., :1] = {t}[..., -1:]",
    "all": "{t}[...] = 0.125",
    "out": "np.multiply({t}, 0.5, out={t})",
    "at": "np.subtract.at({t}, [0, 0], 0.5)",
    "at_ravel": "np.subtract.at({t}.ravel(), [0, 0], 0.5)",
    "at_transpose": "np.add.at({t}.T, [0, 0], 0.5)",
    "fill": "{t}.fill(0.375)",
    "sort": "{t}[..., ::-1].sort()",
    "copyto": "np.copyto({t}, {t}[..., ::-1] * 0.5)",
    "put": "np.put({t}, [0, -1], 0.5)",
    "view": "v = {t}.T\n    v *= 0.5",
    "view_of_view": "v = {t}.T[..., ::-1]\n    v[..., :1] = 0.25",
    "reshaped": "{t}.reshape(-1)[:1] = 0.75",
    "helper": "scale({t}[...])",
}
"""How a program may write to an array; the first ones also to one without axes."""
SINGLE = (np.float16, np.float32, np.complex64)
"""Of whose numbers no differences can be taken."""
WITHOUT_AXES = ("scaled", "power", "all", "out", "fill", "view", "helper")

HEAD = '''"""Programs that call an op and write to what it was given or gave."""

import math
from fractions import Fraction

import numpy as np
import scipy
import scipy.fft
import scipy.linalg
import scipy.special
from numpy import array, float32, float64, int64


def scale(t):
    t *= 0.5


'''


class Spelled:
    """A call of an op as a program writes it, and the arrays that it is given."""

    def __init__(self, text: str, args: tuple[Any, ...], options: dict[str, Any]):
        self.arrays: list[np.ndarray] = []
        self.names: list[str] = []
        self.setup: list[str] = []
        words = [self._word(arg) for arg in args]
        given = [f"{key}={self._literal(value)}" for key, value in options.items()]
        method = text.startswith(".")
        rest = ", ".join((words[1:] if method else words) + given)
        self.call = f"{words[0]}{text}({rest})" if method else f"{text}({rest})"

    def _word(self, arg: Any) -> str:
        if isinstance(arg, list | tuple) and any(isinstance(item, np.ndarray) for item in arg):
            items = ", ".join(map(self._word, arg))
            return f"[{items}]" if isinstance(arg, list) else f"({items},)"
        if not isinstance(arg, np.ndarray) or arg.dtype.kind not in "fc":
            return self._literal(arg)
        k = len(self.arrays)
        self.arrays.append(np.array(arg.real, float))
        self.names.append(f"u{k}")
        if arg.dtype.kind == "f":
            return f"u{k}"
        self.setup.append(f"z{k} = u{k} + 1j * {self._literal(np.array(arg.imag))}")
        self.names[-1] = f"z{k}"
        return f"z{k}"

    def _literal(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            with np.printoptions(threshold=10**6, precision=17):
                text = repr(value)
            return f"np.{text}.reshape({value.shape})"
        if isinstance(value, np.generic):
            return repr(value.item())
        if isinstance(value, type):
            return f"np.{value.__name__}" if issubclass(value, np.generic) else value.__name__
        return repr(value)


def spellings(op: Any) -> Iterator[str]:
    """How programs write a call of an op on arrays."""
    for word in op.spellings.get("np", "").split():
        if getattr(np, word.split(".")[0], None) is not None:
            yield f"np.{word}"
    for word in op.spellings.get("method", "").split()[:1]:
        yield f".{word}"


def leaves(value: Any, text: str) -> Iterator[tuple[str, Any]]:
    """The arrays and numbers of a result, by how a program writes them."""
    if isinstance(value, list | tuple):
        for k, item in enumerate(value):
            yield from leaves(item, f"{text}[{k}]")
    elif np.asarray(value).dtype.kind in "fc":
        yield text, value


def reading(text: str, value: Any) -> str:
    real = f"np.sum(np.sin(np.real({text})))"
    return f"{real} + 0.3 * np.sum(np.imag({text}) ** 2)" if np.iscomplexobj(value) else real


def statement(way: str, text: str, value: np.ndarray) -> str:
    return WAYS[way].format(t=text, first=", ".join(["0"] * value.ndim) or "...")


class Written:
    """One program: its text, and the arrays that it is called with."""

    def __init__(self, name: str, spelled: Spelled, lines: list[str], total: str):
        self.spelled = spelled
        parameters = ", ".join(f"u{k}" for k in range(len(spelled.arrays)))
        body = [*spelled.setup, *lines, f"return {total}"]
        self.name, self.op = name, name.rsplit("_", 4)[0]
        self.text = f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in body)

    def args(self) -> tuple[np.ndarray, ...]:
        return tuple(a.copy() for a in self.spelled.arrays)


def programs(way_of: Any = None) -> Iterator[Written]:
    """A program for every op, way to write and target; `way_of` chooses among the ways."""
    for op in registry.ops():
        for k, (args, options) in enumerate(SAMPLES.get(op.name, ())):
            for j, text in enumerate(spellings(op)):
                yield from _of_call(f"{op.name}_{k}_{j}", Spelled(text, args, options), way_of)


def _of_call(name: str, spelled: Spelled, way_of: Any) -> Iterator[Written]:
    result = _result(spelled)
    outs = [] if result is None else list(leaves(result, "r"))
    if not spelled.arrays or not outs or any(np.asarray(y).dtype in SINGLE for _, y in outs):
        return
    total = " + ".join(itertools.starmap(reading, outs))
    call = f"r = {spelled.call}"
    targets = [(each, a, True) for each, a in zip(spelled.names, spelled.arrays, strict=True)]
    targets += [(text, value, False) for text, value in outs if isinstance(value, np.ndarray)]
    for number, (text, value, given) in enumerate(targets):
        if not value.size:
            continue
        for way in WAYS if value.ndim else WITHOUT_AXES:
            if way_of is not None and not way_of(name, number, way):
                continue
            target = text
            lines = [call]
            if "[" in text:
                lines.append(f"t = {text}")
                target = "t"
            lines += statement(way, target, value).replace("\n    ", "\n").split("\n")
            whole = f"{total} + 0.7 * np.sum(np.real({text}))" if given else total
            yield Written(f"{name}_{number}_{way.replace('_', '')}", spelled, lines, whole)


def _result(spelled: Spelled) -> Any:
    """What the call gives; None where it cannot be made as a program would write it."""
    namespace: dict[str, Any] = {}
    exec(HEAD, namespace)
    namespace.update({f"u{k}": a.copy() for k, a in enumerate(spelled.arrays)})
    try:
        for line in spelled.setup:
            exec(line, namespace)
        return eval(spelled.call, namespace)
    except Exception:
        return None


def loaded(chosen: list[Written], folder: Path) -> Any:
    """The module of some programs, imported from a real file so that their source can be found."""
    source = HEAD + "\n\n".join(each.text for each in chosen)
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    path = folder / f"written_{digest}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
