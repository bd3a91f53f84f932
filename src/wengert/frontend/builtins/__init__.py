"""What builtins and functions of the standard library do to values of the program."""

from ...loading import later

__getattr__ = later(
    __name__,
    "introspection",
    "library_copies",
    "library_modules",
    "library_objects",
    "library_records",
)
