"""wengert differentiates the Python you already wrote."""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from .loading import collecting_later as _collecting_later

with _collecting_later():
    from .api.gradients import (
        code_adjoint as code_adjoint,
        code_ir as code_ir,
        code_tangent as code_tangent,
        derivative as derivative,
        grad as grad,
        gradient as gradient,
        hvp as hvp,
        value_and_grad as value_and_grad,
    )
    from .errors import WengertError as WengertError
    from .intrinsics.steering import (
        checkpoint as checkpoint,
        hook as hook,
        is_differentiating as is_differentiating,
        show_grad as show_grad,
        stop_gradient as stop_gradient,
    )
    from .rules.forms import (
        bilinear_rule as bilinear_rule,
        differential as differential,
        frule as frule,
        linear_rule as linear_rule,
        opt_out as opt_out,
        rrule as rrule,
        scalar_rule as scalar_rule,
        zero_rule as zero_rule,
    )

if _TYPE_CHECKING:
    from . import testing as testing
    from .api.batches import vmap as vmap
    from .api.explaining import rule as rule
    from .api.jacobians import (
        diag_hessian as diag_hessian,
        hessian as hessian,
        jacobian as jacobian,
    )
    from .api.jitting import jit as jit
    from .api.linear_maps import pullback as pullback, pushforward as pushforward
    from .api.many_parts import over_parts as over_parts
    from .api.tapes import tape_limit as tape_limit
    from .api.trees import flatten as flatten, tree_map as tree_map
    from .backends.graph.graph import Graph as Graph
    from .backends.graph.trace import trace as trace
    from .intrinsics.roots import implicit as implicit
    from .numbers.dual import Dual as Dual
    from .numbers.series.towers import derivatives as derivatives, taylor as taylor

_LATER = {
    "Dual": "numbers.dual",
    "Graph": "backends.graph",
    "derivatives": "numbers.series.towers",
    "diag_hessian": "api.jacobians",
    "flatten": "api.trees",
    "hessian": "api.jacobians",
    "implicit": "intrinsics.roots",
    "jacobian": "api.jacobians",
    "jit": "api.jitting",
    "over_parts": "api.many_parts",
    "pullback": "api.linear_maps",
    "pushforward": "api.linear_maps",
    "tape_limit": "api.tapes",
    "rule": "api.explaining",
    "taylor": "numbers.series.towers",
    "trace": "backends.graph",
    "tree_map": "api.trees",
    "vmap": "api.batches",
}
"""Names that not every program needs, loaded at their first use, and where they are."""

_SUBMODULES = ("numbers", "testing")
_PUBLIC_MODULES = {"errors", "numbers", "ops", "testing"}


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise _unknown(name)
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def _unknown(name: str) -> AttributeError:
    """The error for a name that is not there: what it is called here, if another library has it."""
    plain = AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name.startswith("_"):
        return plain  # a question of the import system, mostly
    from .names_elsewhere import unknown_name

    return unknown_name(name) or plain


def __dir__() -> list[str]:
    """The public names; what other modules are loaded is nobody's business."""
    modules = {name for name, value in globals().items() if isinstance(value, type(_sys))}
    return sorted(({*globals(), *_LATER} - modules) | _PUBLIC_MODULES)


__version__ = "0.1.0"
