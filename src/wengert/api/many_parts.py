"""`over_parts`: a sum over parts of the data, computed where the parts are, and its derivatives."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import pickle
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..compile import calling
from ..compile.wanted import Verb
from ..errors import BadArgument, PartFailed, UnsupportedSyntax
from ..frontend.boundary import signature
from ..intrinsics.steering import is_differentiating
from ..ir.callers import calling_span
from ..ir.records import replace
from ..ir.types import Kind, Static
from ..ops.program.checks import counted
from ..rules.forms import frule, rrule
from . import trees
from .derivative import Derivative, recorded
from .linear_maps import pullback, pushforward
from .travelling import packed


def over_parts(f: Callable[..., Any], parts: Iterable[Any], executor: Any = None) -> OverParts:
    """The function θ ↦ Σ f(θ, part) over all parts, which runs where the parts are.

    Args:
        f: takes parameters (a number, an array, a tree: `wg.flatten` says what that is) and a part; returns a number,
            an array or a tree of these.
        parts: what the parts are: pieces of data, names of files …; of a Dask array its blocks.
        executor: any `concurrent.futures.Executor` (threads, processes, MPI …) or a client of `dask.distributed`, which
            gets the parts once and keeps them. Without one the parts are gone through one by one.

    Returns:
        A function of the parameters. Its derivatives by every verb are sums over the parts as well. Each part's is
        computed where the part is, in one round. It may stand in what is differentiated.

    Raises:
        PartFailed: on a call; says which part failed, with its traceback.
        CannotTravel: on a call; `f` cannot be sent to another process.

    >>> import wengert as wg
    >>> total = wg.over_parts(lambda x, part: part * x ** 2, [1.0, 2.0, 3.0])
    >>> total(2.0), wg.grad(total)(2.0), wg.hvp(total)(2.0, 1.0)
    (24.0, 24.0, 12.0)
    """
    calling.must_be_function(f)
    return OverParts(f, Place(parts, executor))


class Place:
    """The parts, and the executor that computes on them; shared by a function and its derivatives."""

    def __init__(self, parts: Iterable[Any], executor: Any):
        if not (executor is None or hasattr(executor, "submit")):
            raise BadArgument(
                f"`executor` must have a method `submit`, not be a value of type {type(executor).__name__}",
                "Pass a `concurrent.futures.ProcessPoolExecutor()`, a `ThreadPoolExecutor()`, or a client of "
                "`dask.distributed`.",
            )
        self.executor: Any = executor
        self.parts = _blocks(parts) if hasattr(parts, "to_delayed") else _listed(parts)
        self._held: list[Any] | None = None
        if len(self.parts) == 0:
            raise BadArgument(
                "`over_parts` was given no parts, and a sum of nothing has no structure",
                "Give at least one part.",
            )

    def sum_of(self, task: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """The sum of what a task gives for the parts, in their order."""
        if self.executor is None:
            return self._one_by_one(task, args)
        sent = self._packed(task)
        if hasattr(self.executor, "scatter"):
            return self._by_client(sent, args)
        futures = [
            self.executor.submit(computed, sent, args, part, k) for k, part in enumerate(self.parts)
        ]
        try:
            return functools.reduce(
                plus, (self._result(f, f"part {k}") for k, f in enumerate(futures))
            )
        finally:
            for future in futures:
                future.cancel()

    def _one_by_one(self, task: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        total = None
        for k in range(len(self.parts)):
            found = self._checked(computed(task, args, self.parts[k], k))
            total = found if k == 0 else plus(total, found)
        return total

    def _by_client(self, task: Any, args: tuple[Any, ...]) -> Any:
        """By a client of Dask: parts are sent once, sums are taken on the workers, in pairs."""
        client, held = self.executor, self._held
        if held is None:
            held = self._held = (
                client.compute(self.parts)
                if _is_delayed(self.parts)
                else client.scatter(list(self.parts), hash=False)
            )
        (given,) = client.scatter([args], broadcast=True, hash=False)
        futures = [
            client.submit(computed, task, given, part, k, pure=False) for k, part in enumerate(held)
        ]
        while len(futures) > 1:
            pairs = zip(futures[::2], futures[1::2], strict=False)
            summed = [client.submit(plus, a, b, pure=False) for a, b in pairs]
            futures = [*summed, *futures[len(summed) * 2 :]]
        return self._result(futures[0], "one")

    def _result(self, future: Any, which: str) -> Any:
        try:
            found = future.result()
        except Exception as error:
            raise PartFailed(
                f"{which} of {len(self.parts)} parts gave no result: {type(error).__name__}: {error}",
                "Its worker ended, or could not send what it found: see what it printed, and whether its memory\n"
                "was enough. Compute the part here to look at it: `f(theta, part)`.",
            ) from error
        return self._checked(found)

    def _checked(self, found: Any) -> Any:
        if not isinstance(found, Failure):
            return found
        raise PartFailed(
            f"part {found.part} of {len(self.parts)} failed with {found.what}",
            f"{found.where}\nCompute the part by itself to look at it: `f(theta, part)`.",
        ) from found.error

    def _packed(self, task: Any) -> Any:
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

        if isinstance(self.executor, ThreadPoolExecutor):
            return task
        return packed(task, main_is_shared=isinstance(self.executor, ProcessPoolExecutor))


def _listed(parts: Iterable[Any]) -> Sequence[Any]:
    indexed = hasattr(parts, "__getitem__") and hasattr(parts, "__len__")
    return parts if indexed and not isinstance(parts, dict) else list(parts)  # type: ignore[return-value]


def _blocks(array: Any) -> list[Any]:
    """The blocks of a Dask array, none of them computed."""
    return list(array.to_delayed().ravel())


def _is_delayed(parts: Sequence[Any]) -> bool:
    return hasattr(parts[0], "compute") and hasattr(parts[0], "dask")


class Failure(NamedTuple):
    """The failure of one part; `error` is None where the exception cannot be pickled."""

    part: int
    what: str
    where: str
    error: Exception | None


def computed(task: Callable[..., Any], args: tuple[Any, ...], part: Any, k: int) -> Any:
    """What a task gives for one part, or how it failed: what runs where the part is."""
    try:
        if _is_delayed((part,)):
            part = part.compute()
        return task(*args, part)
    except Exception as error:
        what = traceback.format_exception_only(error)[-1].strip()
        return Failure(k, what, _traceback(error), _travelling(error))


def _traceback(error: Exception) -> str:
    ours = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  # as frames name files
    found = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in found if not frame.filename.startswith(ours)]
    return "".join(["Traceback of the part:\n", *traceback.format_list(frames)]).rstrip()


def _travelling(error: Exception) -> Exception | None:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  # of our own making
    except Exception:
        return None
    return error


def plus(a: Any, b: Any) -> Any:
    """The sum of two trees; the first failure of two."""
    for each in (a, b):
        if isinstance(each, Failure):
            return each
    return trees.mapped(operator.add, a, (b,))


# --- the function and its derivatives -------------------------------------------------------------


MADE_INSIDE = (
    "what is summed over parts is made inside the program that is differentiated",
    "Make it outside, `total = wg.over_parts(f, parts)`, and pass what `f` depends on as parameters.",
)


class OverParts:
    """A sum over parts.

    Attributes:
        function: what is summed, a function of the parameters and a part.
        place: the parts, and where they are.
    """

    def __init__(self, function: Callable[..., Any], place: Place):
        self.function = function
        # a function, so that nobody who goes through what a program holds looks into an executor
        self._place = lambda: place

    @property
    def place(self) -> Place:
        """The parts, and where they are."""
        return self._place()

    def __call__(self, *args: Any) -> Any:
        if is_differentiating() and recorded().is_recorded(None, args, {}):
            return self._recorded(args)
        return self.place.sum_of(self.function, args)

    def _recorded(self, args: tuple[Any, ...]) -> Any:
        """The sum as a step of a recorded run: what goes to other threads and processes are plain numbers."""
        if not recorded().is_recorded(self.function, (), {}):
            return recorded().step(self, self.pulled, self.pushed, args)
        if self.place.executor is None:
            return self.place.sum_of(self.function, args)
        raise UnsupportedSyntax(*MADE_INSIDE, calling_span())

    def of_derivative(self, verb: Verb, cls: type[Derivative[..., Any]]) -> OverParts:
        """A derivative of the sum is the sum of the derivatives."""
        if verb.has_aux:
            raise BadArgument(
                "`has_aux` is for one function, and the auxiliary data of parts is not summed",
                "Leave it out: a part may return a tree of numbers, and `wg.jacobian` differentiates all of them.",
            )
        return OverParts(OfPart(self.function, verb, cls), self.place)

    def __snapshot__(self) -> OverParts:
        """Itself: nothing that a program writes to is in it."""
        return self

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "sum")

    @property
    def __signature__(self) -> inspect.Signature:
        known = inspect.signature(self.function)
        return known.replace(parameters=list(known.parameters.values())[:-1])

    def __repr__(self) -> str:
        executor = self.place.executor
        where = f", by {type(executor).__name__}" if executor is not None else ""
        count = counted(len(self.place.parts), "part")
        return f"<sum of {calling.shown(self.function)} over {count}{where}>"

    @functools.cached_property
    def pulled(self) -> OverParts:
        """The sum of the cotangents of the parameters: a function of the result's cotangent and them."""
        return OverParts(Pulled(self.function), self.place)

    @functools.cached_property
    def pushed(self) -> OverParts:
        """The sum of the tangents of results: a function of the parameters and their tangents."""
        return OverParts(Pushed(self.function), self.place)


class OfPart:
    """A derivative of one part's share, in the parameters: what travels to where the part is."""

    def __init__(self, function: Callable[..., Any], verb: Verb, cls: type[Derivative[..., Any]]):
        self.function = function
        self.verb = verb
        self.cls = cls
        self._made: dict[int, Any] = {}

    def __call__(self, *args: Any) -> Any:
        *given, part = args
        if self.verb.name == "derivative":  # of functions of one number
            return self.cls(lambda x: self.function(x, part), self.verb)(*given)
        derivative = self._made.get(len(given))
        if derivative is None:
            verb = in_parameters(self.verb, len(given))
            derivative = self._made[len(given)] = self.cls(self.function, verb)
        return derivative(*in_order(self.verb, given, part))

    def __reduce__(self) -> Any:
        return OfPart, (self.function, self.verb, self.cls)

    def __repr__(self) -> str:
        return repr(self.cls(self.function, self.verb))


def in_parameters(verb: Verb, count: int) -> Verb:
    """The same verb for a function that takes a part after so many parameters."""
    count -= verb.name == "hvp"
    chosen = range(count) if verb.argnums is None else verb.argnums
    return replace(verb, argnums=tuple(k + count if -count <= k < 0 else k for k in chosen))


def in_order(verb: Verb, given: Sequence[Any], part: Any) -> list[Any]:
    """The arguments of a part's derivative: the vector of a Hessian–vector product stands last."""
    return [*given[:-1], part, given[-1]] if verb.name == "hvp" else [*given, part]


# --- in programs that are differentiated ----------------------------------------------------------


class Pulled:
    """The cotangents of the parameters that one part gives."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, y_bar: Any, *args: Any) -> Any:
        _, back = pullback(self.function, *args)
        return back(y_bar)[:-1]


class Pushed:
    """The tangent of the result that one part gives."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, args: Any, tangents: Any, part: Any) -> Any:
        _, push = pushforward(lambda *given: self.function(*given, part), *args)
        return push(*tangents)


def _known_by_identity(value: Any, depth: int) -> Kind:
    return Static(value)


for each in (OverParts, OfPart, Pulled, Pushed):
    signature.describe(each, _known_by_identity)


def pulled(total: OverParts) -> OverParts:
    """`total.pulled` as a function, for programs that are read."""
    return total.pulled


def pushed(total: OverParts) -> OverParts:
    """`total.pushed` as a function, for programs that are read."""
    return total.pushed


def summed(total: OverParts, args: Any) -> Any:
    """The sum over all parts, of parameters in a tuple."""
    return total.place.sum_of(total.function, args)


@rrule(summed)
def _(total: Any, args: Any) -> Any:
    def back(y_bar: Any) -> Any:
        return None, pulled(total)(y_bar, *args)

    return summed(total, args), back


@frule(summed)
def _(primals: Any, tangents: Any) -> Any:
    total, args = primals
    _, moving = tangents
    return summed(total, args), pushed(total)(args, moving)
