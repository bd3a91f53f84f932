"""The lines of a pane, which belong to lines of another, and the blocks that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ...backends.python import Printed
from ...highlighting import highlighted_lines
from ...ir.graph import Function
from ...ir.records import mutable_record, record
from ...ir.text import show_with_places
from .reading import Place, Source, place
from .statements import statements


@mutable_record
class Line:
    """A line of a pane.

    Attributes:
        text: as it is shown.
        number: what stands beside it.
        origins: the lines of the user's that it comes from; what it computes last is last.
        notes: HTML beside it, about its values.
        html: the text in colours.
        anchor: the name of its element.
    """

    text: str
    number: int | None = None
    origins: tuple[Place, ...] = ()
    notes: str = ""
    html: str = ""
    anchor: str = ""


def of_source(source: Source, pane: str) -> list[Line]:
    """The lines of a file that are shown; where some are left out stands a line without a number."""
    colours = highlighted_lines("\n".join(source.lines))
    starts = {n: s.line for n, s in statements("\n".join(source.lines)).items()}
    lines: list[Line] = []
    for before, number in pairwise([0, *source.shown]):
        if lines and number > before + 1:
            lines.append(Line(""))
        text = source.lines[number - 1]
        origins = dict.fromkeys([(source.file, starts.get(number, number)), (source.file, number)])
        html = colours[number - 1]
        lines.append(Line(text, number, tuple(origins), html=html, anchor=f"{pane}-{number}"))
    return lines


def of_printed(printed: Iterable[Printed], pane: str) -> list[Line]:
    """The lines of generated functions; the names of their elements begin with that of the pane."""
    lines: list[Line] = []
    for one in printed:
        lines += [Line("")] if lines else []
        for number, text in enumerate(one.text.splitlines(), 1):
            spans = one.lines.get(number, ())
            for span in spans:
                text = text.removesuffix(f"  # {span}")  # noqa: PLW2901
            lines.append(Line(text, origins=tuple(dict.fromkeys(map(place, spans)))))
    return _finished(lines, pane)


def of_ir(function: Function, pane: str) -> list[Line]:
    """The lines of a function as wengert reads it."""
    pairs = show_with_places(function)
    lines = [Line(text, origins=() if span is None else (place(span),)) for text, span in pairs]
    return _finished(lines, pane)


def _finished(lines: list[Line], pane: str) -> list[Line]:
    colours = highlighted_lines("\n".join(line.text for line in lines))
    for number, (line, html) in enumerate(zip(lines, colours, strict=True), 1):
        line.html, line.anchor = html, f"{pane}-{number}"
    return lines


def is_code(text: str) -> bool:
    """Whether a line computes something, or says where something does."""
    return bool(text.strip()) and not text.lstrip().startswith("#")


def tie_the_rest(lines: Sequence[Line], sources: Iterable[Source], whole: Place | None) -> None:
    """Have what nobody wrote (signatures, `return`, what sweeps hand on) belong to the function that it serves.

    Args:
        lines: those of a pane.
        sources: the files that were read.
        whole: where the function begins that the last definition is derived from; those before it are of the
            functions whose lines they begin with.
    """
    heads = {source.file: source.heads for source in sources}
    starts = [k for k, line in enumerate(lines) if line.text.startswith("def ")] or [0]
    for start, end in pairwise([*starts, len(lines)]):
        own = next((line.origins[-1] for line in lines[start:end] if line.origins), None)
        head = whole if end == len(lines) or own is None else _head(heads, own)
        for line in lines[start:end]:
            if head is not None and not line.origins and is_code(line.text):
                line.origins = (head,)


def _head(heads: Mapping[str, Sequence[int]], place: Place) -> Place | None:
    file, line = place
    before = [head for head in heads.get(file, ()) if head <= line]
    return (file, before[-1]) if before else None


# --- blocks -------------------------------------------------------------------------------


def as_tree(lines: Sequence[Line], files: Mapping[str, int]) -> str:
    """Lines as a tree of HTML: what is indented more belongs to what stands above it, and folds with it.

    Args:
        lines: what is shown.
        files: the numbers of the files that origins are in; others are not shown.
    """
    return "".join(_Tree(lines, _levels(lines), files).items(0, len(lines), 1))


def _levels(lines: Sequence[Line]) -> list[int]:
    """How deep each line stands; after a comment that heads a section of code, one deeper."""
    levels: list[int] = []
    sections: list[int] = []
    for line in lines:
        stripped = line.text.lstrip()
        if not stripped:
            levels.append(-1)
            continue
        indent = len(line.text) - len(stripped)
        while sections and indent < sections[-1]:
            sections.pop()
        heads = stripped in ("# forward", "# reverse")
        inside = bool(sections) and not (heads and indent == sections[-1])
        levels.append(2 * indent + inside)
        if heads and sections[-1:] != [indent]:
            sections.append(indent)
    for position in reversed(range(len(levels) - 1)):
        if levels[position] < 0:
            levels[position] = max(levels[position + 1], 0)
    return [max(level, 0) for level in levels]


@record
class _Tree:
    lines: Sequence[Line]
    levels: Sequence[int]
    files: Mapping[str, int]

    def items(self, start: int, end: int, depth: int) -> Iterator[str]:
        """The elements of the lines from `start` to `end`."""
        at = start
        while at < end:
            after = self._end_of_block(at, end)
            name = f'role="treeitem" aria-level="{depth}" tabindex="-1"{self._tie(self.lines[at])}'
            row = self._row(self.lines[at])
            if after == at + 1:
                yield f'<div class="l" {name}>{row}</div>'
            else:
                inside = "".join(self.items(at + 1, after, depth + 1))
                yield f'<div {name} aria-expanded="true"><div class="l">{row}</div>'
                yield f'<div role="group">{inside}</div></div>'
            at = after

    def _end_of_block(self, at: int, end: int) -> int:
        after = at + 1
        while after < end and self.levels[after] > self.levels[at] and self.lines[at].text.strip():
            after += 1
        return after

    def _tie(self, line: Line) -> str:
        """The name of a line's element, the lines that it comes from, and how it is read aloud."""
        known = [(self.files[f], number) for f, number in line.origins if f in self.files]
        tie = f' data-o="{" ".join(f"{file}:{number}" for file, number in known)}"' if known else ""
        return tie + (f' id="{line.anchor}"' if line.anchor else "")

    def _row(self, line: Line) -> str:
        """What is in a line's element: a number, of generated code that of the user's line, code and values."""
        number = str(line.number or "")
        known = [(self.files[f], origin) for f, origin in line.origins if f in self.files]
        if line.number is None and known:
            file, origin = known[-1]
            number = f"{file + 1}:{origin}" if file else str(origin)
        notes = f"<i>{line.notes}</i>" if line.notes else ""
        return f"<b>{number}</b><code>{line.html}</code>{notes}"
