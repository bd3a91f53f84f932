"""Programs made of text, and the general source of a derivative, run where nothing of wengert's is known."""

import importlib.util
import sys
import types

import wengert as wg


def alone(derivative):
    """The function that the source of a derivative defines last, which is the derivative itself."""
    module = sys.modules["alone"] = types.ModuleType("alone")
    exec(compile(derivative.source, "alone.py", "exec"), vars(module))
    defined = (made for made in vars(module).values() if isinstance(made, types.FunctionType))
    return [made for made in defined if made.__module__ == "alone"][-1]


def loaded(file, text):
    """The function `program` of a module that is written to a file."""
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def unless_refused(way):
    """What a way to differentiate gives, or None where it is refused, by wengert or by the run."""
    try:
        return way()
    except (wg.WengertError, ValueError) as refusal:
        if not getattr(refusal, "code", "").startswith("WG1"):
            raise
        return None
