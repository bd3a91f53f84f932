"""Functions of other libraries written in Python: the interpreter reads these instead of the originals.

They are found by the tables of `manifest`: `EQUIVALENTS` of each module, where `same_names` finds what is called alike.
They are loaded with the first program that needs them.
"""

from ...loading import later

__getattr__ = later(__name__, "manifest", "ordinary_options")
