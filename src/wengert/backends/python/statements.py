"""The equations of a function as statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Function, Span, Var, walk, with_called
from ...ir.types import UNKNOWN, Number
from ...ops.program.memory import WRITES
from ...ops.program.refusals import refuse
from .code import Code, concat, listing, tuple_display
from .expressions import Expressions
from .folding import Folding
from .layout import WIDTH, Statement, comment
from .lifetimes import Lifetimes
from .needs import Caught, Loop, Needs, answer

_WORDS = re.compile(r"[^\W\d]\w*")
Assignment = tuple[str, Code]


class Statements:
    """Writes the blocks of a function whose values have names."""

    def __init__(
        self,
        needs: Needs,
        folding: Folding,
        lifetimes: Lifetimes,
        expressions: Expressions,
        names: dict[Var, str],
        nested: Callable[[Eqn, str, list[Code]], Statement],
    ):
        self._needs = needs
        self._folding = folding
        self._lifetimes = lifetimes
        self._expressions = expressions
        self._names = names
        self._nested = nested

    def block(self, block: Block, appends: dict[Var, list[str]] | None = None) -> list[Statement]:
        """The statements of a block; `appends` says which lists keep which of its values."""
        appends = appends or {}
        result: list[Statement] = []
        for eqn in block.eqns:
            if eqn in self._needs.dropped:
                continue
            if len(eqn.outs) == 1 and eqn.outs[0] in self._folding.folded:
                # a global has no statement of its own, and a list may keep it all the same
                value = self._expressions.atom(eqn.outs[0])
                targets = appends.get(eqn.outs[0], ())
                result += [self._append(target, value, eqn.span) for target in targets]
                continue
            if eqn in self._needs.with_try:
                continue
            result += self._equation(eqn, appends)
            if eqn.op.name == "raise":
                break
        return _without_empty_sections(result)

    def _equation(self, eqn: Eqn, appends: dict[Var, list[str]]) -> list[Statement]:
        name = eqn.op.name
        if name == "comment":
            return [comment(eqn.param("text"))]
        if name == "if" and eqn not in self._folding.conditionals:
            result = self._if(eqn)
        elif name == "try":
            result = self._try(eqn)
        elif eqn in self._needs.loops:
            result = self._loop(self._needs.loops[eqn])
        elif eqn.op in WRITES:
            result = self._write(eqn)
        elif name == "raise":
            return [self._raise(eqn)]
        elif name == "evaluated" and self._expressions.atom(eqn.args[0]).text.isidentifier():
            return []  # a statement has given it a name already
        elif name == "closure":
            captured = self._expressions.atoms(eqn.args)
            result = [self._nested(eqn, self._names[eqn.outs[0]], captured)]
        elif len(eqn.outs) == 1 and eqn.outs[0] in self._folding.appended:
            value = self._expressions.equation(eqn)
            return [self._append(target, value, eqn.span) for target in appends[eqn.outs[0]]]
        else:
            result = [self._assign(eqn)]
        last = self._last_printed(eqn)
        for out in self._needs.outs_after(last):
            for target in appends.get(out, ()):
                result.append(self._append(target, Code(self._names[out]), eqn.span))
        return result

    def _last_printed(self, eqn: Eqn) -> Eqn:
        """The last equation of those that are printed together with this one."""
        caught = self._needs.caught.get(eqn)
        return eqn if caught is None or caught.branch is None else caught.branch

    # --- simple statements ----------------------------------------------------------------

    def _assign(self, eqn: Eqn) -> Statement:
        value = self._expressions.equation(eqn)
        targets = [self._names[o] if self._is_assigned(eqn, o) else "_" for o in eqn.outs]
        if all(target == "_" for target in targets):
            return Statement(value, eqn.span)
        if len(targets) == 1:
            return Statement(self._augmented(eqn, targets[0], value), eqn.span)
        return Statement(concat(f"{', '.join(targets)} = ", value), eqn.span)

    def _is_assigned(self, eqn: Eqn, out: Var) -> bool:
        return out in self._names and self._needs.assigned(eqn, out)

    def _augmented(self, eqn: Eqn, target: str, value: Code) -> Code:
        """`x += v` for `x = x + v` of numbers."""
        symbol = eqn.op.spellings.get("py", "")
        first = eqn.args[0] if len(eqn.args) == 2 else None
        numbers = all(isinstance(kind_of_atom(a), Number) for a in (*eqn.args, *eqn.outs))
        if not numbers or symbol not in ("+", "-") or not isinstance(first, Var):
            return concat(f"{target} = ", value)
        start = f"{target} {symbol} "
        if self._names.get(first) != target or not value.text.startswith(start):
            return concat(f"{target} = ", value)
        return concat(f"{target} {symbol}= ", self._expressions.atom(eqn.args[1])).marked(eqn.span)

    def _write(self, eqn: Eqn) -> list[Statement]:
        old = self._expressions.atom(eqn.args[0]).text
        new = self._names.get(eqn.outs[0], old)
        code = self._expressions.write(eqn)
        if code.level > 0:
            return [Statement(concat(f"{new} = ", code), eqn.span)]
        result = [Statement(code, eqn.span)]
        if new != old:
            result.append(Statement(Code(f"{new} = {old}"), eqn.span))
        return result

    def _raise(self, eqn: Eqn) -> Statement:
        codes = self._expressions.atoms(eqn.args)
        has_cause = len(eqn.args) > 1 and eqn.args[1] != Const(False)
        cause = [" from ", codes[1]] if has_cause else []
        return Statement(concat("raise ", codes[0], *cause).marked(eqn.span), eqn.span)

    def _append(
        self, target: str, value: Code, span: Span | None = None, within: Span | None = None
    ) -> Statement:
        return Statement(concat(f"{target}.append(", value, ")"), span, within=within)

    def copies(
        self, pairs: Iterable[tuple[Var, Atom]], within: Span | None, together: bool = False
    ) -> list[Statement]:
        """Assignments that all happen at once."""
        assignments: list[Assignment] = []
        for target, source in pairs:
            code = self._expressions.atom(source)
            if code.text != self._names[target]:
                assignments.append((self._names[target], code))
        simple = [
            a for a in assignments if a[1].text.isidentifier() or not _WORDS.search(a[1].text)
        ]
        if together and len(simple) == len(assignments) and _fits(assignments):
            return list(_at_once(assignments, within))
        return list(_in_order(assignments, within))

    # --- control --------------------------------------------------------------------------

    def _if(self, eqn: Eqn) -> list[Statement]:
        then, other = (self._branch(eqn, block) for block in eqn.blocks)
        condition = eqn.args[0]
        if not then and not other:
            computed = self._expressions.definition(condition) is not None
            return [Statement(self._expressions.atom(condition), eqn.span)] if computed else []
        if not then:
            head = concat("if ", self._expressions.negation(condition))
            return [Statement(head, eqn.span, other)]
        head = concat("if ", self._expressions.atom(condition))
        return [Statement(head, eqn.span, then, other)]

    def _try(self, eqn: Eqn) -> list[Statement]:
        (body,) = eqn.blocks
        exception, *outs = eqn.outs
        caught = self._needs.caught[eqn]
        protected = [*self.block(body)]
        if not any(inner.op.name == "raise" for inner in body.eqns):
            protected += self.copies(self._needs.copies(outs, body.outs), eqn.span)
        head = concat("except ", self._classes(eqn.param("catches")))
        handler: list[Statement] = []
        after: list[Statement] = []
        if exception in self._needs.values:
            name = self._names[exception]
            renamed = self._lifetimes.caught.get(eqn)
            caught_as = name if renamed is None else self._names[renamed]
            head = concat(head, f" as {caught_as}")
            if renamed is not None:
                handler.append(Statement(Code(f"{name} = {caught_as}"), within=eqn.span))
                after.append(Statement(Code(f"{name} = None"), within=eqn.span))
        if _may_refuse(body):
            handler.insert(
                0, Statement(self._expressions.helper("unless_refused"), within=eqn.span)
            )
        handler += self.copies(self._needs.copies(outs, eqn.args), eqn.span)
        handler += self._afterwards(caught, raised=True)
        after += self._afterwards(caught, raised=False)
        result = [
            Statement(Code("try"), eqn.span, protected),
            Statement(head, None, handler, within=eqn.span),
        ]
        return [*result, Statement(Code("else"), None, after, within=eqn.span)] if after else result

    def _afterwards(self, caught: Caught, *, raised: bool) -> Iterator[Statement]:
        """What is done after a `try` that raised, or did not."""
        for ask in caught.asks:
            if ask.outs[0] in self._needs.values:
                value = answer(ask, raised=raised)
                yield Statement(Code(f"{self._names[ask.outs[0]]} = {value}"), within=ask.span)
        block = caught.after(raised)
        if block is not None and caught.branch is not None:
            yield from self._branch(caught.branch, block)

    def _classes(self, catches: Sequence[type]) -> Code:
        codes = [self._expressions.bindings.constant(cls) for cls in catches]
        return codes[0] if len(codes) == 1 else concat("(", *listing(codes), ")")

    def _branch(self, eqn: Eqn, block: Block) -> list[Statement]:
        result = self.block(block)
        if all(_is_comment(statement) for statement in result):
            result = []
        if any(inner.op.name == "raise" for inner in block.eqns):
            return result
        return result + self.copies(self._needs.copies(eqn.outs, block.outs), eqn.span)

    def _loop(self, loop: Loop) -> list[Statement]:
        lists = [(self._names[o], a) for o, a in loop.collected if o in self._needs.values]
        initials = self._needs.copies(loop.outs, loop.initials)
        span = loop.eqn.span
        result = [Statement(Code(f"{name} = []"), within=span) for name, _ in lists]
        # what the lists are called may be a name that the initial values still read
        result = self.copies(initials, span, together=True) + result
        head, body = self._head(loop)
        body += self._body(loop, lists)
        if all(_is_comment(statement) for statement in body):
            body = []
        result.append(Statement(head, span, body))
        if loop.eqn.param("reverse", False):
            result += [Statement(Code(f"{name}.reverse()"), within=span) for name, _ in lists]
        return result

    def _head(self, loop: Loop) -> tuple[Code, list[Statement]]:
        if loop.eqn.op.name == "for":
            return self._for(loop), []
        test = loop.eqn.blocks[0]
        statements = self.block(test)
        if all(_is_comment(statement) for statement in statements):
            return concat("while ", self._expressions.atom(test.outs[0])), []
        stop, span = concat("if ", self._expressions.negation(test.outs[0])), loop.eqn.span
        statements.append(Statement(stop, span, [Statement(Code("break"), within=span)]))
        return Code("while True"), statements

    def _for(self, loop: Loop) -> Code:
        expressions = self._expressions
        sources = expressions.atoms(loop.iterables)
        if loop.eqn.param("reverse", False):
            backwards = expressions.bindings.builtin("reversed")
            sources = [concat(f"{backwards}(", source, ")") for source in sources]
        if len(sources) > 1:
            together = expressions.bindings.builtin("zip")
            source = concat(f"{together}(", *listing(sources), ")")
        else:
            source = sources[0]
        items = [self._names[i] if i in self._needs.values else "_" for i in loop.items]
        return concat(f"for {', '.join(items)} in ", source)

    def _after_assignments(self, loop: Loop) -> Expressions:
        """Writes what is read when the loop's variables already have their new values."""
        slots = self._lifetimes.following_values(loop)
        return Expressions(
            self._expressions.bindings,
            lambda var: self._names[slots.get(var, var)],
            self._folding.definition,
        )

    def _body(self, loop: Loop, lists: Sequence[tuple[str, Atom]]) -> list[Statement]:
        inside = {out for eqn in loop.body.eqns for out in eqn.outs}
        early = [(name, a) for name, a in lists if not isinstance(a, Var) or a not in inside]
        appends: dict[Var, list[str]] = {}
        for name, atom in lists:
            if isinstance(atom, Var) and atom in inside:
                appends.setdefault(atom, []).append(name)
        span = loop.eqn.span
        result = [
            self._append(name, self._expressions.atom(atom), within=span) for name, atom in early
        ]
        result += self.block(loop.body, appends)
        copies = list(self._needs.copies(loop.outs, loop.results))
        stop = loop.stop
        saved = self._lifetimes.late_stops.get(loop.eqn)
        if saved is not None and stop is not None:
            copies.append((saved, stop))
            stop = saved
        result += self.copies(copies, span)
        if stop is not None:
            leave = [Statement(Code("break"), within=span)]
            if stop == Const(True):
                result += leave
            else:
                head = concat("if ", self._after_assignments(loop).atom(stop))
                result.append(Statement(head, span, leave))
        return result


def _in_order(assignments: list[Assignment], within: Span | None) -> Iterator[Statement]:
    """One after the other where that is the same as all at once."""
    rest = list(assignments)
    while rest:
        for position, (name, code) in enumerate(rest):
            others = rest[:position] + rest[position + 1 :]
            if not any(name in _WORDS.findall(other.text) for _, other in others):
                yield Statement(concat(f"{name} = ", code), within=within)
                rest = others
                break
        else:
            yield from _at_once(rest, within)
            return


def _at_once(assignments: Sequence[Assignment], within: Span | None) -> Iterator[Statement]:
    if assignments:
        names = ", ".join(name for name, _ in assignments)
        codes = [code for _, code in assignments]
        value = codes[0] if len(codes) == 1 else tuple_display(codes)
        yield Statement(concat(f"{names} = ", value), within=within)


def _fits(assignments: Sequence[Assignment]) -> bool:
    return sum(len(name) + len(code) + 4 for name, code in assignments) < WIDTH // 2


def _without_empty_sections(statements: list[Statement]) -> list[Statement]:
    """Leave out a comment that announces nothing, or the only section there is."""
    result: list[Statement] = []
    for position, statement in enumerate(statements):
        following = statements[position + 1 : position + 2]
        if not (_is_comment(statement) and following and _is_comment(following[0])):
            result.append(statement)
    if sum(map(_is_comment, result)) == 1:
        return [statement for statement in result if not _is_comment(statement)]
    return result


def _may_refuse(block: Block) -> bool:
    """Whether a block may raise what is no exception of the program: that it cannot be followed."""
    whole = Function("", (), block, UNKNOWN)
    eqns = [eqn for function in with_called(whole) for eqn in walk(function.body)]
    if any(eqn.op is refuse for eqn in eqns):
        return False  # the program's handlers pass it on, and what is done on the way out is done
    return any("rt" in eqn.op.spellings for eqn in eqns)


def _is_comment(statement: Statement) -> bool:
    return statement.body is None and statement.head.text.startswith("# ")
