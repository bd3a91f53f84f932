"""Programs that leave a block in every way, having written to an object in every way, and read it afterwards.

`grid` puts them together; each is a function of one number, with what it is given besides.
"""

import itertools
import linecache
import types

BEFORE = """
import contextlib
import numpy as np


class Box:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def put(self, value):
        self.a = value

    def sum(self):
        return self.a + 2.0 * self.b


"""

LEAVES = {
    "falls through": """
if z < 1.0:
    {first}
else:
    {second}
return {out}
""",
    "falls through one arm": """
if z < 1.0:
    {first}
{second}
return {out}
""",
    "falls through an empty arm": """
if z < 1.0:
    pass
else:
    {second}
return {out}
""",
    "returns early": """
if z < 1.0:
    {first}
    return {out}
{second}
return {out}
""",
    "returns late": """
if z >= 1.0:
    {second}
    return {out}
return {out}
""",
    "returns in both arms": """
if z < 1.0:
    {first}
    return {out}
else:
    {second}
    return {out}
""",
    "returns in one of four arms": """
if z < 1.0:
    if z < 0.1:
        {second}
        return {out}
    {first}
    return {out}
if z < 2.0:
    return {out}
{second}
return {out}
""",
    "returns in a loop": """
for i in range(2):
    if z < 1.0 + i:
        {first}
        return {out}
    {second}
return {out}
""",
    "returns in a while": """
n = 0.0
while n < 2.0:
    n = n + 1.0
    if z < n:
        {first}
        return {out}
    {second}
return {out}
""",
    "breaks": """
for i in range(2):
    if z < 1.0:
        {first}
        break
    {second}
return {out}
""",
    "breaks, else": """
for i in range(2):
    if z < 1.0:
        {first}
        break
else:
    {second}
    return {out}
return {out}
""",
    "breaks, then returns": """
n = 0
while True:
    n += 1
    if z < n:
        {first}
        break
    if n > 1:
        {second}
        return {out}
return {out}
""",
    "continues": """
for i in range(2):
    if z < 1.0:
        {first}
        continue
    {second}
return {out}
""",
    "raises inside": """
try:
    if z < 1.0:
        {first}
        raise ValueError("no")
    {second}
except ValueError:
    pass
return {out}
""",
    "raises, returns in the handler": """
try:
    if z < 1.0:
        {first}
        raise ValueError("no")
except ValueError:
    return {out}
{second}
return {out}
""",
    "raises outside": """
try:
    raises(z, out)
except ValueError:
    pass
return {out}
""",
    "finally": """
try:
    if z < 1.0:
        {first}
        return {out}
    {second}
finally:
    z = 0.0
return {out}
""",
    "with": """
with contextlib.suppress(ValueError):
    if z < 1.0:
        {first}
        raise ValueError("no")
    {second}
    return {out}
return {out}
""",
    "chooses a call": """
def one():
    {first}
    return {out}
def two():
    {second}
    return {out}
return one() if z < 1.0 else two()
""",
}

RAISES = """
def raises(z, out):
    if z < 1.0:
        {first}
        raise ValueError("no")
    {second}
"""

COMMON = ["{o}[0]", "{o}[-1]", "{o}[int(z > 9.0)]", "sum({o})", "len({o}) * z", "(5.0 in {o}) * z"]

KINDS = {
    "list": (
        {"constant": "[1.0, 2.0]", "varied": "[z, 2.0]"},
        [
            "out[0] = {v}", "out[0] += {v}", "out.append({v})", "out.pop()", "del out[0]",
            "out.insert(0, {v})", "out.extend([{v}, 3.0])", "out.clear()", "out[0:1] = [{v}, 3.0]",
            "out += [{v}]", "out.reverse()",
        ],
        [
            *COMMON, "max({o})", "{o}[0:1][0]", "[2.0 * v for v in {o}][0]", "tuple({o})[0]",
            "{o}.count(5.0) * z", "{o}.pop()", "({o} == [5.0, 2.0]) * z", "({o} or [7.0 * z])[0]",
            "[*{o}][0]", "(lambda o: o[0])({o})", "{o}.copy()[0]",
            "\nfirst, *rest = {o}\nreturn first", "\ns = 0.0\nfor v in {o}:\n    s = 2.0 * s + v\nreturn s",
            "\no = {o}\no.append(z)\nreturn o[0] * o[-1]", "\no = {o}\no[0] *= z\nreturn sum(o)",
            "\na, b = {o}\nreturn a * b", "\nif {o}:\n    return z\nreturn 2.0 * z",
        ],
    ),
    "dict": (
        {"constant": '{{"k": 1.0, "m": 2.0}}', "varied": '{{"k": z, "m": 2.0}}'},
        [
            'out["k"] = {v}', 'out["k"] += {v}', "out.update(k={v})", 'out.pop("k")', 'del out["k"]',
            'out["n"] = {v}', 'out.setdefault("n", {v})', 'out |= {{"k": {v}}}', "out.clear()",
            'out.update({{"n": {v}}})',
        ],
        [
            '{o}["k"]', '{o}["k" if z < 9.0 else "m"]', '{o}.get("k", 0.5)', '{o}.get("n", 7.0)',
            "sum({o}.values())", "len({o}) * z", '("n" in {o}) * z', "list({o}.values())[0]",
            "[*{o}.items()][-1][1]", '{o}.pop("k", 2.0)', '{{**{o}, "k": z}}["k"]', "dict({o})['m']",
            "\no = {o}\nreturn sum([o[q] for q in o])",
            "\ns = 0.0\nfor v in {o}.values():\n    s = 2.0 * s + v\nreturn s",
            '\no = {o}\no["m"] *= z\nreturn o["m"] + o.get("k", 0.25)', "max({o}.values())",
        ],
    ),
    "object": (
        {"constant": "Box(1.0, 2.0)", "varied": "Box(z, 2.0)"},
        [
            "out.a = {v}", "out.a += {v}", 'setattr(out, "a", {v})', "del out.a", "out.n = {v}",
            "out.put({v})", 'vars(out)["a"] = {v}', "out.__dict__.update(n={v})", "out.__init__({v}, 3.0)",
        ],
        [
            "{o}.a", 'getattr({o}, "n", 3.0) * z', 'hasattr({o}, "n") * z', "sum(vars({o}).values())",
            "{o}.sum()", '{o}.__dict__["a"]', 'getattr({o}, "a" if z < 9.0 else "b")',
            "\no = {o}\no.b *= z\nreturn o.sum()", "\no = {o}\no.a = z\nreturn o.sum()",
        ],
    ),
    "array": (
        {"constant": "np.array([1.0, 2.0])", "varied": "np.array([z, 2.0])"},
        [
            "out[0] = {v}", "out[0] += {v}", "out *= {v}", "out[:] = {v}", "out.fill({v})",
            "out[out > 1.5] = {v}", "np.add(out, {v}, out=out)",
        ],
        [
            *COMMON, "np.sum({o})", "{o}[:1][0]", "{o}.max()", "\na, b = {o}\nreturn a * b",
            "\ns = 0.0\nfor v in {o}:\n    s = 2.0 * s + v\nreturn s", "\no = {o}\no *= z\nreturn o.sum()",
        ],
    ),
    "objects in a list": (
        {"constant": "[Box(1.0, 2.0), [2.0, 3.0]]", "varied": "[Box(z, 2.0), [z, 3.0]]"},
        [
            "out[0].a = {v}", "out[0].put({v})", "out[1][0] = {v}", "out[1].append({v})", "out[0] = Box({v}, 2.0)",
            "out[1] = [{v}, 4.0]", "out.reverse()", "out[1], out[0] = out[0], out[1]",
        ],
        [
            "{o}[0].a", "{o}[1][0]", "sum({o}[1])", "len({o}[1]) * z", "{o}[-1][-1]", "{o}[0].sum()",
            "\np, q = {o}\nreturn p.a * q[0]", "\no = {o}\no[1][0] *= z\nreturn o[1][0]",
        ],
    ),
}  # fmt: skip

WAYS = ("directly", "by a name", "in a tuple", "given", "an argument")
"""How the object comes to be where it is written and where it is read."""


def grid(kind):
    """All combinations for one kind of object: (how it leaves, what is written first and then, read, origin, way)."""
    origins, writes, reads = KINDS[kind]
    pairs = list(zip(writes, writes[1:] + writes[:1], strict=True)) + [(w, w) for w in writes]
    return itertools.product(LEAVES, pairs, reads, origins, WAYS)


def indented(text, by=1):
    return text.strip("\n").replace("\n", "\n" + "    " * by)


def text_of(kind, leaves, pair, read, origin, way):
    """The source of a program, whose arguments are a number and, for some, an object."""
    made = KINDS[kind][0][origin].format()
    first, second = pair[0].format(v="5.0"), pair[1].format(v="z * z")
    out = "(out, z)" if way == "in a tuple" else "out"
    parts = {"first": first, "second": second, "out": out}
    given = way in ("given", "an argument")
    start = "" if given else f"    out = {made}\n"
    body = indented(LEAVES[leaves].format(**parts))
    lines = [BEFORE, RAISES.format(**parts)]
    lines += [f"\ndef helper(z{', out' if given else ''}):\n{start}    {body}\n"]
    called = "helper(z, out)" if given else "helper(z)"
    called = {"in a tuple": f"{called}[0]", "by a name": "taken"}.get(way, called)
    said = read.format(o=called)
    said = said if said.startswith("\n") else f"return {said}"
    before = {"given": f"    out = {made}\n", "by a name": "    taken = helper(z)\n"}.get(way, "")
    takes = ", out" if way == "an argument" else ""
    lines += [f"\ndef program(z{takes}):\n{before}    {indented(said)}\n"]
    given = made.replace("z", "0.75") if way == "an argument" else ""
    lines += [f"\ndef arguments():\n    return [{given}]\n"]
    return "".join(lines)


def program_of(name, text):
    """The module with a program, as if from a file of that name."""
    module = types.ModuleType(name)
    file = f"<{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), vars(module))
    return module
