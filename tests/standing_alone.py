"""The general source of a derivative, run where nothing of wengert's is known."""

import sys
import types


def alone(derivative):
    """The function that the source of a derivative defines last, which is the derivative itself."""
    module = sys.modules["alone"] = types.ModuleType("alone")
    exec(compile(derivative.source, "alone.py", "exec"), vars(module))
    defined = (made for made in vars(module).values() if isinstance(made, types.FunctionType))
    return [made for made in defined if made.__module__ == "alone"][-1]
