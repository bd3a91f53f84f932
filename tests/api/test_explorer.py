"""The page of `wengert explore`: what is on it, what belongs to what, and that it works in a browser."""

import html.parser
import json
import re
import shutil
import subprocess
import textwrap
import warnings

import explored_program as house
import numpy as np
import pytest
from programs.registry import PROGRAMS

import wengert as wg
from wengert.api import gradients
from wengert.api.exploring import Explored, explore, page
from wengert.api.exploring.lines import is_code
from wengert.api.exploring.values import shown
from wengert.highlighting import highlighted_lines

AT_HOUSE = (house.PARAMETERS, house.MEASURED, house.WIND)
VOID = {"meta", "input", "br", "rect", "path"}
LARGEST = 300_000
"""Bytes of a page beyond what it shows."""


def of_text(tmp_path, text, name="program.py"):
    file = tmp_path / name
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    namespace = {"__name__": name.removesuffix(".py")}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), namespace)
    return namespace


class Parsed(html.parser.HTMLParser):
    """The lines of a page by the names of their elements, what they come from, and whether all is closed."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.origins, self.open = {}, {}, []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("role") == "treeitem" and "id" in given:
            self.texts[given["id"]] = ""
            self.origins[given["id"]] = given.get("data-o", "").split()
        if tag not in VOID:
            self.open.append((tag, given.get("id")))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        if "code" in tags and "i" not in tags:
            names = [name for _, name in self.open if name in self.texts]
            if names:
                self.texts[names[-1]] += data


def titles(explored: Explored):
    return [source.title for source, _ in explored.sources]


# --- what was read ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def explored():
    return explore(house.loss, *AT_HOUSE)


@pytest.fixture(scope="module")
def house_page():
    return page(house.loss, *AT_HOUSE)


def test_all_functions_that_were_read_are_there_by_file_with_their_line_numbers(explored):
    assert titles(explored) == ["explored_program.py", "explored_parts.py"]
    program, parts = (lines for _, lines in explored.sources)
    assert {line.text for line in parts} >= {"def softplus(x, sharpness=4.0):"}
    by_number = {line.number: line.text for line in program}
    with open(house.__file__, encoding="utf-8") as file:
        for number, text in enumerate(file.read().splitlines(), 1):
            assert by_number.get(number, text) == text
    defined = [text for text in by_number.values() if re.match(r"\s*(def|class) ", text)]
    assert len(defined) == 45
    assert "    def given(self, inside):" not in defined  # nobody calls it


def tied_by_data(explored, derived):
    """How many lines of generated code come from a line on the page, and how many there are.

    What a page ties to the function as a whole, its signature and `return`, counts as not tied.
    """
    files = {source.file: {n.number for n in lines} for source, lines in explored.sources}
    tied = code = 0
    for printed in derived.printed:
        for number, text in enumerate(printed.text.splitlines(), 1):
            if is_code(text):
                spans = printed.lines.get(number, ())
                code += 1
                tied += any(span.line in files.get(span.file, ()) for span in spans)
    return tied, code


def test_nearly_all_lines_of_a_derivative_belong_to_a_line_of_the_program(explored):
    tied, code = tied_by_data(explored, explored.adjoint)
    assert code > 400
    assert code - tied == 7  # the signatures and results of seven functions
    tied, code = tied_by_data(explored, gradients.tangent_of(house.loss, *AT_HOUSE))
    assert code > 250
    assert code - tied == 14


def test_so_they_do_in_the_corpus():
    tied = code = 0
    for program in PROGRAMS[::20]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                one = explore(program.function, *program.points[0])
            except wg.WengertError:
                continue
        more = tied_by_data(one, one.adjoint)
        tied, code = tied + more[0], code + more[1]
        shown_files = {source.file for source, _ in one.sources}
        for lines in one.generated.values():
            for line in lines:
                tie = any(file in shown_files for file, _ in line.origins)
                assert tie or not is_code(line.text), (program.name, line.text)
    assert code > 1000
    assert tied / code > 0.7  # in functions of a few lines signature and `return` weigh


def test_what_belongs_to_a_line_is_what_the_printer_says(house_page):
    parsed = Parsed(house_page)
    assert parsed.texts["s0-169"].strip() == "given = self.size * excess**1.3"
    partners = [
        parsed.texts[name].strip()
        for name, origins in parsed.origins.items()
        if name.startswith("r-") and "0:169" in origins
    ]
    assert "given = 18.0 * excess**1.3" in partners
    assert any("excess_bar" in text for text in partners)


def test_comments_of_origins_are_links_now(house_page):
    assert "# explored_program.py:" not in house_page


def test_lines_of_a_statement_belong_to_its_first(tmp_path):
    f = of_text(tmp_path, "def f(x):\n    return max(\n        x,\n        2.0,\n    )\n")["f"]
    assert Parsed(page(f, 1.0)).origins["s0-4"] == ["0:2", "0:4"]


def test_lambdas_methods_and_partials(tmp_path):
    import functools

    space = of_text(
        tmp_path,
        """
        class C:
            def __init__(self, w):
                self.w = w

            def g(self, x):
                return self.w * x * x

            def __call__(self, x):
                return self.g(x)

        square = lambda x: x * x

        def two(k, x):
            return k * x
        """,
    )
    one = explore(space["C"](2.0).g, 3.0)
    assert next(line.text for line in one.sources[0][1]) == "class C:"
    for f in (space["square"], functools.partial(space["two"], 2.0), space["C"](2.0)):
        assert titles(explore(f, 3.0)) == ["program.py"]


def test_a_function_without_its_text_has_its_derivative_alone():
    space = {}
    exec("def f(x):\n    return x * x", space)
    assert "adjoint_f" in page(space["f"], 2.0) or "The source is not there." in page(
        space["f"], 2.0
    )


def test_what_is_recorded_is_explored_as_well(tmp_path):
    f = of_text(tmp_path, "def f(x, text):\n    y = eval(text, {'x': x})\n    return y * x\n")["f"]
    text = page(f, 2.0, "x + 1")
    assert titles(explore(f, 2.0, "x + 1")) == ["program.py"]
    assert Parsed(text).texts["s0-3"].strip() == "return y * x"


def test_two_files_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    inner = of_text(tmp_path / "a", "def g(x):\n    return x * x\n")["g"]
    f = of_text(tmp_path / "b", "def f(x):\n    return g(x) + 1\n")["f"]
    f.__globals__["g"] = inner
    assert titles(explore(f, 2.0)) == ["b/program.py", "a/program.py"]


def test_signatures_and_what_sweeps_hand_on_belong_to_their_function(tmp_path):
    f = of_text(
        tmp_path,
        """
        def power(x, n):
            if n == 0:
                return 1.0
            return x * power(x, n - 1)

        def f(x, n):
            return 2.0 * power(x, n)
        """,
    )["f"]
    parsed = Parsed(page(f, 2.0, 3))
    tied = {parsed.texts[name].strip(): origins for name, origins in parsed.origins.items()}
    assert tied["def forward_power(x, n):"] == ["0:2"]
    assert tied["def adjoint_f(x, n, y_bar=1.0):"] == ["0:7"]


# --- values -------------------------------------------------------------------------------


def notes_of(f, *args):
    text = page(f, *args)
    found = re.findall(
        r'id="(s0-\d+|r-\d+)"[^>]*>(?:<div class="l">)?<b>[^<]*</b><code>.*?</code>(?:<i>(.*?)</i>)?<',
        text,
    )
    return text, dict(found)


TANK = """
import math


class Tank:
    def __init__(self, level):
        self.level = level

    def drain(self, rate):
        outflow = rate * math.exp(self.level)
        self.level = self.level - 0.1 * outflow
        return outflow


def loss(rate, level, steps):
    tank = Tank(level)
    total = 0.0
    for k in range(steps):
        total = total + tank.drain(rate)
    return total


def growth(x):
    for k in range(12):
        x = x * x
    y = x - x
    return y * 2
"""


def test_values_stand_beside_lines(tmp_path):
    _, notes = notes_of(of_text(tmp_path, TANK)["loss"], 0.5, 0.0, 3)
    assert notes["s0-7"].startswith("self.level = 0")
    assert notes["s0-10"].startswith("outflow = 0.5 → 0.453")
    assert "×3" in notes["s0-10"]
    assert notes["s0-18"].startswith("k = 0 → 2 ×3")
    assert notes["s0-20"].startswith("return = 1.42")
    assert "<u>outflow_bar = 1 → 0.909243 ×3; level_bar" in notes["s0-10"]


def test_nan_and_infinity_are_named_where_they_came_up_first(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, notes = notes_of(of_text(tmp_path, TANK)["growth"], np.float64(3.0))
    assert (
        '<mark>inf</mark> came up in the run first at <a href="#s0-25">program.py:25</a>: '
        "<code>x = x * x</code> gives <code>x</code>, turn 10" in text
    )
    assert (
        '<mark>NaN</mark> came up in the run first at <a href="#s0-26">program.py:26</a>: '
        "<code>y = x - x</code> gives <code>y</code>" in text
    )
    assert "first here" in notes["s0-25"]
    assert "first here" not in notes["s0-27"]


def test_an_argument_that_is_not_finite_is_named(tmp_path):
    text, _ = notes_of(lambda x: np.sum(x * 2), np.array([1.0, np.nan]))
    assert "<mark>NaN</mark> is in the argument <code>x</code>" in text


def test_runs_that_are_followed_leave_arguments_and_tracing_as_they_were(tmp_path):
    import sys

    f = of_text(tmp_path, "def f(x):\n    x[0] = 2.0 * x[1]\n    return x[0] * x[1]\n")["f"]
    before = sys.gettrace()
    x = [1.0, 3.0]
    _, notes = notes_of(f, x)
    assert sys.gettrace() is before
    assert "x = [6, 3]" in notes["s0-2"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, ("1", "")),
        (float("nan"), ("nan", "NaN")),
        (complex(1, float("inf")), ("1+infj", "inf")),
        (True, ("True", "")),
        (np.arange(3.0), ("[0., 1., 2.]", "")),
        (np.array([0.0, np.inf] * 9), ("float64[18] 0 … inf", "inf")),
        (np.zeros((2, 3)), ("float64[2, 3] 0 … 0", "")),
        (np.array([]), ("float64[0]", "")),
        ([1.0, float("nan")], ("[1, nan]", "NaN")),
        (list(range(9)), ("list of 9: 0 …", "")),
        ("x" * 99, ("'" + "x" * 58 + "…", "")),
        ({}, ("dict", "")),
    ],
)
def test_values_in_a_few_words(value, expected):
    assert shown(value) == expected


def test_a_page_shows_values_and_gradients(tmp_path):
    f = of_text(
        tmp_path, "import numpy as np\ndef energy(w, x):\n    return np.sum(np.tanh(x * w)**2)\n"
    )["energy"]
    text = page(f, np.array([1.0, -0.4]), np.array([0.5, 2.0]))
    assert "value: <code>0.65" in text
    assert "<th>gradient</th>" in text
    assert "what this call computes, in one" in text
    assert text.count("<br><svg width") == 4  # bars of each argument and of its gradient


def test_a_page_of_several_results_shows_the_jacobian():
    text = page(lambda x: np.array([x[0] * x[1], x[1] ** 2]), np.array([1.0, 0.4]))
    assert "<th>Jacobian</th>" in text
    assert "array([[0.4, 1. ]," in text


def test_a_page_without_a_point_shows_code_alone():
    text = page(house.smoothness)
    assert 'class="nf">adjoint_smoothness' in text
    assert "<table>" not in text
    assert "<i>" not in text


def test_a_loop_too_long_to_draw_is_not_drawn(house_page):
    assert "what this call computes, in one" not in house_page


def test_the_graph_has_a_view_for_each_loop_and_branch(tmp_path):
    text = page(of_text(tmp_path, TANK)["loss"], 0.5, 0.0, 3)
    assert text.count('<div class="view"') == 2
    assert "› the loop, line 18</h2>" in text
    labels = re.findall(r'<g class="n"[^>]*><rect[^>]*/><text[^>]*>([^<]*)</text>', text)
    assert labels[-8:] == [
        *("level", "rate", "total"),
        *("exp(·)", "outflow = · * ·", "0.1 * ·", "· - ·", "total = · + ·"),
    ]
    assert re.search(r'data-on="1" data-at="s0-17" data-open="1"', text.replace("s0-18", "s0-17"))


def test_derivatives_appear_order_by_order(tmp_path):
    f = of_text(tmp_path, "import math\ndef f(x, k):\n    return math.exp(-x * x) * k\n")["f"]
    text = page(f, 0.5, 2.0)
    view = text[text.index('data-view="orders"') :]
    orders = [int(order) for order in re.findall(r'class="small"[^>]*>order (\d)', view)]
    assert orders == sorted(orders)
    assert set(orders) == {0, 1, 2, 3}
    assert "derivatives by x, order by order" in view
    assert 'data-open="orders"' in text
    assert 'data-view="orders"' not in page(lambda x: np.sum(x), np.ones(3))


def test_both_sides_of_a_branch_have_a_view(tmp_path):
    f = of_text(
        tmp_path,
        """
        def f(x):
            if x > 1:
                y = x * x
            else:
                y = 3 * x
            return y
        """,
    )["f"]
    text = page(f, 2.0)
    assert 'if true, line 3 or <button data-open="2">if false, line 3</button></h2>' in text
    assert 'if false, line 3 or <button data-open="1">if true, line 3</button></h2>' in text


# --- the page -----------------------------------------------------------------------------


def test_it_is_one_page_and_not_large(house_page):
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)|@import|url\((?!#)""", house_page)
    alone = page(lambda x: x * x)
    assert len(alone.encode()) < LARGEST / 6
    assert len(house_page.encode()) < 650_000


def test_it_is_well_formed_and_can_be_read_aloud(house_page):
    parsed = Parsed(house_page)
    assert len(parsed.texts) > 1000
    for role in ("tree", "treeitem", "group", "tablist", "tab", "tabpanel", "region"):
        assert f'role="{role}"' in house_page
    assert 'lang="en"' in house_page
    assert "prefers-color-scheme:dark" in house_page
    assert '<footer aria-live="polite">' in house_page


def test_sweeps_loops_and_branches_fold(house_page):
    heads = re.findall(
        r'aria-expanded="true"><div class="l"><b>[^<]*</b><code>(.*?)</code>', house_page
    )
    texts = {re.sub("<[^>]*>", "", head).strip() for head in heads}
    assert {"# forward", "# reverse", "for wall in self.walls:"} <= texts


HOSTILE = """
def f(x):
    label = "</script><script>alert(1)</script>"
    markup = '<img src=x onerror="alert(2)">'
    '''<b>&amp;'''
    return x * x  # </code><script>alert(3)</script>
"""


def test_hostile_names_are_escaped(tmp_path):
    name = '<img src=x onerror="alert(4)">.py'
    f = of_text(tmp_path, HOSTILE, name)["f"]
    f.__name__ = "<script>alert(5)</script>"
    text = page(f, 2.0)
    Parsed(text)
    assert text.count("<script>") == text.count("</script>") == 1
    assert "<img" not in text
    assert not re.search(r'<[^>"]*("[^"]*"[^>"]*)*onerror', text)


def test_colours_do_not_change_a_text(house_page):
    with open(house.__file__, encoding="utf-8") as file:
        text = file.read()
    plain = [re.sub("<[^>]*>", "", line) for line in highlighted_lines(text)]
    assert [html.unescape(line) for line in plain] == text.split("\n")


def test_what_colours_stand_for():
    (line,) = highlighted_lines('def f(x): return len("a\\"b") + 1e-3  # <i>')
    assert line == (
        '<span class="k">def</span> <span class="nf">f</span>(x): <span class="k">return</span> '
        '<span class="nb">len</span>(<span class="s1">&quot;a\\&quot;b&quot;</span>) + '
        '<span class="mf">1e-3</span>  <span class="c1"># &lt;i&gt;</span>'
    )
    first, second = highlighted_lines('"""one\ntwo""" + rb\'x\'')
    assert first == '<span class="s1">&quot;&quot;&quot;one</span>'
    assert second.endswith('+ <span class="s1">rb&#x27;x&#x27;</span>')


# --- in a browser -------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


def asked(tmp_path, text, script):
    """What a script gives that runs in a page, and what the page says on the console."""
    file = tmp_path / "page.html"
    told = f"<script>document.documentElement.dataset.told = JSON.stringify((() => {{{script}}})());</script>"
    file.write_text(text.replace("</body>", f"{told}</body>"), encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--enable-logging=stderr", "--v=0", "--window-size=1400,900", file.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    told = re.search(r'data-told="([^"]*)"', run.stdout)
    assert told, run.stderr
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(told[1])), console


@in_browser
def test_a_click_shows_what_belongs_to_a_line(tmp_path, house_page):
    script = """
        byId("s0-169").click();
        const lit = all(".lit").map(row => row.querySelector("code").textContent.trim());
        const next = choose(byId("s0-169"));
        return [lit, Math.abs(shownAt(next) - shownAt(byId("s0-169"))) <= 2, next.id, document.activeElement.id];
    """
    (lit, level, _, active), console = asked(tmp_path, house_page, script)
    assert "given = 18.0 * excess**1.3" in lit
    assert level
    assert active == "s0-169"
    assert console == []


@in_browser
def test_keys_move_fold_and_jump(tmp_path, house_page):
    script = """
        const press = key => document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
        const at = () => document.activeElement.id;
        byId("s0-167").focus();
        const seen = [];
        for (const key of ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowRight"]) {
            press(key);
            seen.push(at());
        }
        press("Enter");
        return [seen, paneOf(document.activeElement) === right()];
    """
    (seen, jumped), console = asked(tmp_path, house_page, script)
    assert seen == ["s0-168", "s0-167", "s0-167", "s0-173", "s0-167", "s0-167", "s0-168"]
    assert jumped
    assert console == []


@in_browser
def test_panes_scroll_together(tmp_path, house_page):
    script = """
        const start = right().scrollTop;
        lead = left;
        left.scrollTop = shownAt(byId("s0-226")) - 300;
        follow(left);
        const moved = right().scrollTop - start;
        byId("tab1").click();
        return [moved > 100, all("[role=tabpanel]:not([hidden])").length, byId("tab1").ariaSelected];
    """
    told, console = asked(tmp_path, house_page, script)
    assert told == [True, 1, "true"]
    assert console == []


@in_browser
def test_the_graph_plays_and_no_node_moves(tmp_path):
    text = page(of_text(tmp_path, TANK)["loss"], 0.5, 0.0, 3)
    script = """
        byId("tab4").click();
        all("[data-open]", graphs)[0].dispatchEvent(new MouseEvent("click", {bubbles: true}));
        const where = () => JSON.stringify(all(".view:not([hidden]) .n", graphs).map(n => {
            const {x, y, width, height} = n.querySelector("rect").getBoundingClientRect();
            return [x, y, width, height];
        }));
        const start = where();
        const seen = new Set();
        for (const direction of ["forward", "reverse"]) {
            play(direction);
            for (let k = 0; k <= played.order.length; k++) { showUntil(k); seen.add(where() === start); }
        }
        const visited = kind => all(".n." + kind, graphs).map(n => n.querySelector("text").textContent);
        return [[...seen], visited("visited"), visited("returned"), graphs.querySelector("output").textContent];
    """
    (still, lit, back, said), console = asked(tmp_path, text, script)
    assert still == [True]
    assert lit == ["exp(·)", "outflow = · * ·", "0.1 * ·", "· - ·", "total = · + ·"]
    assert back == ["level", "rate", "total", *lit]
    assert said.startswith("8 of 8: ")
    assert console == []


@in_browser
def test_five_thousand_lines_stay_fluent(tmp_path):
    body = "".join(f"    x = x * {k}.5 + {k}.0\n" for k in range(1700))
    f = of_text(tmp_path, f"def f(x):\n{body}    return x\n")["f"]
    text = page(f)
    script = """
        const start = performance.now();
        for (let k = 0; k < 50; k++) {
            lead = left;
            left.scrollTop = k * 400;
            follow(left);
            mark(items[k * 10]);
        }
        return [items.length, (performance.now() - start) / 50];
    """
    (count, milliseconds), console = asked(tmp_path, text, script)
    assert count > 5000
    assert milliseconds < 50
    assert console == []
