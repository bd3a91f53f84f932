"""A path that no run takes refuses nothing; one that is taken is refused by its run, as it is where it is certain."""

from __future__ import annotations

import contextlib
import itertools
import linecache
import math
import runpy

import numpy as np
import pytest
from scipy.special import mathieu_a

import wengert as wg

hidden = eval("lambda t: t * t")


# --- what cannot be read, wherever it stands ------------------------------------------------

OBSTACLES = {
    "eval": ("y = eval('2 * x')", "WG101"),
    "async": ("async def later():\n    return x\ny = x", "WG101"),
    "except*": ("try:\n    y = 1 / x\nexcept* ValueError:\n    y = 0.0", "WG101"),
    "class": ("class Inner:\n    pass\ny = x", "WG101"),
    "no source": ("y = hidden(x)", "WG102"),
    "no rule": ("y = unruled(1.0, x)", "WG103"),
    "lost write": ("a = np.zeros(3, dtype=int)\na[0] = x\ny = a[0] * x", "WG104"),
    "key": ("d = {}\nd[x] = 1.0\ny = x", "WG103"),
    "text": ("y = float(f'{x}')", "WG101"),
}
PLACES = {
    "if": "y = x\nif go:\n    {}",
    "else": "if not go:\n    y = x\nelse:\n    {}",
    "elif": "if k == 5:\n    y = 2 * x\nelif go:\n    {}\nelse:\n    y = x",
    "after a return": "if not go:\n    return x * x\n{}",
    "while": "y = x\nwhile go:\n    {}\n    go = False",
    "for": "y = x\nfor _ in range(int(go)):\n    {}",
    "loop": "y = x\nfor k in range(3):\n    if go and k == 1:\n        {}",
    "handler": "y = x\ntry:\n    z = 1.0 / (0.0 if go else 1.0)\nexcept ZeroDivisionError:\n    {}",
    "in a try": "y = x\ntry:\n    if go:\n        {}\nexcept Exception:\n    y = 100.0 * x",
    "with": "y = x\nwith np.errstate(all='ignore'):\n    if go:\n        {}",
    "match": "match k:\n    case 7:\n        {}\n    case _:\n        y = x",
    "function": "def inner(x):\n    y = x\n    if go:\n        {}\n    return y\ny = inner(x)",
    "recursion": (
        "def inner(n):\n    y = x\n    if n == 9:\n        {}\n    return y if n == 0 or n == 9 else inner(n - 1)\n"
        "y = inner(9 if go else 2)"
    ),
    "generator": ("def inner():\n    y = x\n    if go:\n        {}\n    yield y\ny = sum(inner())"),
}


def program(obstacle, place, tmp_path):
    code, _ = OBSTACLES[obstacle]
    before, _, after = PLACES[place].partition("{}")
    indent = " " * (len(before) - len(before.rstrip(" ")))
    body = before + code.replace("\n", "\n" + indent) + after + "\nreturn x * y"
    text = "import numpy as np\ndef f(x, k):\n    go = k > 6\n    " + body.replace("\n", "\n    ")
    file = tmp_path / "program.py"
    file.write_text(text)
    linecache.checkcache(str(file))
    return runpy.run_path(str(file), {"hidden": hidden, "unruled": mathieu_a})["f"]


GRID = [
    (obstacle, place)
    for obstacle, place in itertools.product(OBSTACLES, PLACES)
    if obstacle in ("eval", "no rule") or place in ("if", "loop", "recursion", "handler")
]
MODES = {
    "reverse": lambda f, *args: wg.grad(f)(*args),
    "forward": lambda f, x, k: wg.pushforward(f, x, k)[1](1.0, None),
    "pullback": lambda f, *args: wg.pullback(f, *args)[1](1.0)[0],
    "jit": lambda f, *args: wg.jit(wg.grad(f))(*args),
    "nested": lambda f, x, k: wg.grad(lambda x: wg.grad(f)(x, k) * x)(x) / 2,
    "second": lambda f, x, k: wg.hessian(f)(x, k) * x,
}


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(("obstacle", "place"), GRID)
def test_a_branch_that_no_run_takes_refuses_nothing(obstacle, place, tmp_path):
    f = program(obstacle, place, tmp_path)
    code = OBSTACLES[obstacle][1]
    modes = MODES if place in ("if", "for") else {m: MODES[m] for m in ("reverse", "forward")}
    for run in modes.values():
        assert run(f, 3.0, 2) == pytest.approx(6.0)
    for run in modes.values():
        with pytest.raises(wg.WengertError) as caught:
            run(f, 3.0, 7)
        assert caught.value.code == code
        assert f"{tmp_path}/program.py:" in str(caught.value)
        assert "^" in str(caught.value)
    assert wg.grad(f)(3.0, 2) == pytest.approx(6.0)  # a run that is refused leaves nothing behind


# --- what a run does before it is refused, and what it does not ----------------------------


def on_both_paths(x, seen):
    seen.append("begun")
    if x > 2:
        return eval("x")
    return hidden(x) + eval("2 * x")


def certain(x, seen):
    seen.append("begun")
    if x > 2:
        x = eval("x")
    return x + eval("2 * x")


@pytest.mark.parametrize("f", [on_both_paths, certain])
def test_what_every_run_comes_to_is_refused_before_anything_runs(f):
    seen = []
    with pytest.raises(wg.WengertError, match="WG101"):
        wg.grad(f)(3.0, seen)
    assert seen == []


def test_what_is_refused_on_both_paths():
    with pytest.raises(wg.WengertError, match="WG102") as caught:
        wg.grad(lambda x: hidden(x) if x > 2 else hidden(2 * x))(3.0)
    assert str(caught.value).count("the source of <lambda> cannot be found") == 1


def counted(x, seen):
    seen.append("begun")
    if x > 2:
        seen.append("in the branch")
        x = hidden(x)
        seen.append("never")
    return x * x


def test_effects_before_the_place_have_happened():
    seen = []
    with pytest.raises(wg.WengertError, match="WG102"):
        wg.grad(counted)(3.0, seen)
    assert seen == ["begun", "in the branch"]
    assert wg.grad(counted)(1.0, seen) == 2.0
    assert seen == ["begun", "in the branch", "begun"]


def catching_all(x, seen):
    try:
        if x > 2:
            x = hidden(x)
        return x * x
    except BaseException:
        return 100.0 * x
    finally:
        seen.append("left")


def test_no_handler_of_the_program_takes_a_refusal_for_an_exception():
    seen = []
    assert wg.grad(catching_all)(1.0, seen) == 2.0
    with pytest.raises(wg.WengertError, match="WG102"):
        wg.grad(catching_all)(3.0, seen)
    with pytest.raises(wg.WengertError, match="WG102"):
        wg.pushforward(catching_all, 3.0, seen)[1](1.0, None)


class Lock:
    def __init__(self, seen):
        self.seen = seen

    def __enter__(self):
        self.seen.append("in")

    def __exit__(self, *raised):
        self.seen.append("out")


def locked(x, seen):
    if x > 2:
        lock = Lock(seen)
        with lock:
            x = hidden(x)
    return x * x


def finishing(x, seen):
    if x > 2:
        try:
            seen.append("in")
            x = hidden(x)
        finally:
            seen.append("out")
    return x * x


def handled(x, seen):
    if x > 2:
        try:
            with Lock(seen):
                x = hidden(x)
        except Exception:
            x = 100.0 * x
    return x * x


def suppressed(x, seen):
    if x > 2:
        with contextlib.suppress(Exception), Lock(seen):
            x = hidden(x)
    return x * x


class Quiet(Lock):
    def __exit__(self, *raised):
        self.seen.append("out")
        return True


def quietly(x, seen):
    if x > 2:
        with Quiet(seen):
            x = hidden(x)
    return x * x


@contextlib.contextmanager
def noting(seen):
    seen.append("in")
    try:
        yield
    finally:
        seen.append("out")


def by_generator(x, seen):
    if x > 2:
        with noting(seen):
            x = hidden(x)
    return x * x


@pytest.mark.parametrize("f", [locked, finishing, handled, suppressed, quietly, by_generator])
def test_what_is_left_by_a_refusal_is_left_as_by_an_exception(f):
    seen = []
    assert wg.grad(f)(1.0, seen) == 2.0
    with pytest.raises(wg.WengertError, match="WG102"):
        wg.grad(f)(3.0, seen)
    assert seen == ["in", "out"]


def special(item):
    if isinstance(item, list):
        return any(special(part) for part in item)
    return isinstance(item, np.ma.MaskedArray)


def of_two_libraries(x):
    if special([x, [x, 2.0]]):
        import library_that_is_not_there

        return library_that_is_not_there.cosine(x)
    return math.cos(x)


def test_F4_a_recursive_question_about_types():
    assert wg.grad(of_two_libraries)(0.5) == pytest.approx(-math.sin(0.5))
    assert wg.pushforward(of_two_libraries, 0.5)[1](1.0) == pytest.approx(-math.sin(0.5))


def kept(x, flag):
    """What the branch would bind is not bound on a path that does not take it."""
    if flag:
        extra = eval("3 * x")
    if flag:
        return extra
    return x * x


def test_what_the_path_would_have_bound():
    assert wg.grad(kept)(3.0, False) == 6.0
    with pytest.raises(wg.WengertError, match="WG101"):
        wg.grad(kept)(3.0, True)


def written(v, n):
    out = [v * v]
    if n > 3:
        out.append(eval("v"))
        out[0] = eval("v")
    return np.sum(out[0]) * len(out)


def test_what_the_path_would_have_written():
    v = np.array([1.0, 2.0])
    np.testing.assert_allclose(wg.grad(written)(v, 1), 2 * v)
    np.testing.assert_allclose(wg.jacobian(written, mode="forward")(v, 1), 2 * v)


# --- R2: the first real obstacle -----------------------------------------------------------


def both(s):
    n, m, _ = s.shape
    z = np.array(n * [m * [50.0]])
    F = np.zeros_like(s)
    np.einsum("ijj->ij", F)[...] = eval("np.sqrt(1.0)") * z
    return np.sum(F @ s)


def test_R2_what_no_reading_overcomes_is_recorded():
    at, along = np.ones((2, 3, 3)), np.cos(np.arange(18.0)).reshape(2, 3, 3)
    slope = (both(at + 1e-6 * along) - both(at - 1e-6 * along)) / 2e-6
    assert np.sum(wg.grad(both)(at) * along) == pytest.approx(slope, rel=1e-7)


def lists_before_what_is_refused(x):
    for t in np.array([x, x, 1]):
        try:
            first = np.array([t, x])
            grown = [first]
            for _ in range(2):
                grown.append(np.sin(grown[-1]))

            def decorated(scale):
                def wrap(g):
                    pass

                return wrap

            @decorated
            def unread(t):
                pass

        finally:
            pass
    return x * x


def test_nothing_is_read_of_what_a_turn_that_is_refused_has_made():
    """It was read again where the turn was given up, and nothing defined it (WG901)."""
    assert wg.value_and_grad(lists_before_what_is_refused)(3.0) == (9.0, 6.0)
    with pytest.raises(wg.WengertError, match="WG101"):
        wg.grad(lists_before_what_is_refused, tier="static")(3.0)
