"""Global names in a run: what each means there is found when it is first read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any

from .builtins import BUILTINS

_MISSING = object()


class Scope(dict[str, Any]):
    """The global names of a module, or of a run around this one, as a run has them.

    A run reads few of the names that its functions could read, and these may be of large libraries.

    Attributes:
        names: those of the program.
        given: by name, what the run was given: what is not that any more, it has changed.
    """

    def __init__(self, names: dict[str, Any], read: Callable[[dict[str, Any], str], Any]):
        kept = {name: names[name] for name in _READ_BY_IMPORTS if name in names}
        super().__init__(kept, __builtins__=BUILTINS)
        self.names = names
        self.given = dict(self)
        self._read: Callable[[dict[str, Any], str], Any] | None = read

    def __missing__(self, name: str) -> Any:
        if self._read is None:
            return self.names[name]
        if name in self.given:
            raise KeyError(name)  # the run has deleted it
        try:
            meant = self._read(self.names, name)
        except KeyError:
            if name in self.names or not dict.__contains__(BUILTINS, name):
                raise
            meant = BUILTINS[name]  # kept here, as it is read often
        if name not in self.given:
            self.given[name] = self[name] = meant
        return self[name]

    def __contains__(self, name: object) -> bool:
        own = self.get(name, _MISSING)  # pyright: ignore[reportArgumentType, reportCallIssue]
        if own is _MISSING:
            return name in self.names and name not in self.given
        return name in self.names or own is not self.given.get(name, _MISSING)  # pyright: ignore[reportArgumentType, reportCallIssue]

    def read(self, names: Iterable[str]) -> None:
        """Have entries for names that are read past `__missing__`."""
        for name in names:
            if name in self:
                self[name]

    def changed(self) -> dict[str, Any]:
        """By name, what the run has set."""
        given = self.given
        return {name: x for name, x in self.items() if given.get(name, _MISSING) is not x}

    def deleted(self) -> list[str]:
        return [name for name in self.given if not dict.__contains__(self, name)]

    def end(self) -> None:
        """What is left of the run, such as a generator, reads the program's own names from now on."""
        self._read = None


def is_scope(x: Any) -> bool:
    """Whether a dictionary holds the global names of a module or of a run."""
    return isinstance(x, dict) and dict.__contains__(x, "__builtins__")  # pyright: ignore[reportUnknownArgumentType]


_READ_BY_IMPORTS = (
    "__name__", "__package__", "__spec__", "__path__", "__file__", "__loader__", "__warningregistry__"
)  # fmt: skip
"""Names that Python looks up as entries of a dictionary: for relative imports, and for warnings."""


class ModuleNames(MutableMapping[str, Any], dict[str, Any]):  # pyright: ignore[reportGeneralTypeIssues]
    """`vars(module)` or `globals()` in a run."""

    def __init__(self, scope: Scope):
        dict.__init__(self, __builtins__=BUILTINS)  # for `eval`
        self.scope = scope

    def __getitem__(self, name: str) -> Any:
        if name not in self.scope:
            raise KeyError(name)
        return self.scope[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.scope[name] = value

    def __delitem__(self, name: str) -> None:
        self.scope.read((name,))
        del self.scope[name]

    def __iter__(self) -> Iterator[str]:
        scope = self.scope
        return iter([name for name in {**scope.names, **scope} if name in scope])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def read(self, names: Iterable[str]) -> None:
        """Have entries for names that are read past `__getitem__`."""
        dict.update(self, {name: self.scope[name] for name in names if name in self.scope})
