"""Terms as text, as pictures and as Python: what a term can be shown as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from ..compiled import TermFunction
    from ..term import Term

Sweep = Literal["eval", "backprop", "derive"]


class Shown:
    """The ways to see a term; `Term` is the class that has them."""

    __slots__ = ()

    def __str__(self) -> str:
        from .text import expression

        return expression(_term(self).graph, _term(self).atom)

    def __repr__(self) -> str:
        return f"<Term {self}>"

    def to_latex(self) -> str:
        """The term in LaTeX's mathematics, without the dollars around it."""
        from .latex import to_latex

        return to_latex(_term(self))

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def to_dot(self, *others: Any, **options: Any) -> str:
        """The graph of the term, and of others, for Graphviz.

        Args:
            others: further results to draw in the same picture.
            options: `show_values`, `vertical`, `highlights`, `connect_to`, `output_node`, `output_term`,
                `precision`: see `wengert.backends.graph.pictures.dot.to_dot`.
        """
        from .dot import to_dot

        return to_dot((_term(self), *others), **options)

    def to_mermaid(self, *others: Any) -> str:
        """The graph of the term, and of others, as a Mermaid flow chart."""
        from .dot import to_mermaid

        return to_mermaid((_term(self), *others))

    def to_svg(self, *others: Any, **options: Any) -> str:
        """A picture of the graph of the term, and of others; options `show_values` and `highlights`."""
        from .svg import to_svg

        return to_svg((_term(self), *others), **options)

    def to_png(self, *others: Any, **options: Any) -> bytes:
        """The picture that Graphviz draws, with the options of `to_dot`.

        Raises:
            NoPicture: Graphviz is not installed.
        """
        from .svg import to_png

        return to_png((_term(self), *others), **options)

    def to_animated_svg(self, *others: Any, of: Sequence[Sweep] = ("eval",)) -> str:
        """The graph at work, frame by frame in one layout: `of` "eval", "backprop" and "derive"."""
        from .svg import to_animated_svg

        return to_animated_svg((_term(self), *others), of)

    def to_html(self, *others: Any) -> str:
        """A page with the term, and others, as text and as a picture."""
        from .svg import to_html

        return to_html((_term(self), *others))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def to_function(self, *others: Any, name: str = "f") -> TermFunction:
        """A Python function of the variables that the term depends on; `.source` is its text.

        Args:
            others: further results: the function then returns a tuple.
            name: what the function is called.
        """
        from ..compiled import TermFunction

        return TermFunction((_term(self), *others), name)


def _term(shown: Shown) -> Term:
    return cast("Term", shown)
