"""The public contract: every name, what it takes, what it gives."""

# programs under test are written as users write them

import math
import os
import pickle
import re
import subprocess
import sys
import threading
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracle
import programs
import pytest
import trees
from places import HELPERS, TESTS

import wengert as wg


def square(x):
    return x * x


def product(x, y):
    return x * y + x


def close(found, expected, rel=1e-13):
    trees.assert_close(found, expected, rel=rel)


# At one point


def test_gradient_gives_a_tuple_with_one_entry_per_positional_argument():
    assert wg.gradient(product, 2.0, 3.0) == (4.0, 2.0)
    assert wg.gradient(square, 3.0) == (6.0,)
    assert isinstance(wg.gradient(square, 3.0), tuple)


def test_gradient_passes_keywords_on():
    def scaled(x, *, factor, power=1):
        return factor * x**power

    assert wg.gradient(scaled, 3.0, factor=2.0) == (2.0,)
    assert wg.gradient(scaled, 3.0, factor=2.0, power=2) == (12.0,)


def test_pullback_is_reusable_and_linear():
    y, back = wg.pullback(product, 2.0, 3.0)
    assert y == 8.0
    assert back(1.0) == (4.0, 2.0)
    assert back(-2.5) == (-10.0, -5.0)
    assert back(1.0) == (4.0, 2.0)


def test_pullback_of_containers_takes_and_gives_containers():
    y, back = wg.pullback(lambda p: {"s": p[0] * p[1], "t": [p[0]]}, (2.0, 3.0))
    assert y == {"s": 6.0, "t": [2.0]}
    assert back({"s": 1.0, "t": [10.0]}) == ((13.0, 2.0),)


def test_pullback_works_from_any_thread():
    _, back = wg.pullback(lambda x: np.sum(np.sin(x) * x), np.linspace(0.1, 2.0, 50))
    expected = back(1.0)[0]
    results = []
    threads = [threading.Thread(target=lambda: results.append(back(1.0)[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all((result == expected).all() for result in results)


def test_pullback_remembers_the_call_it_came_from():
    x = np.array([1.0, 2.0])
    _, back = wg.pullback(lambda x: np.sum(x**3), x)
    x[:] = 100.0
    # what the reverse sweep keeps may be the argument itself: the gradient is that of either call
    (found,) = back(1.0)
    assert found.tolist() in ([3.0, 12.0], [30000.0, 30000.0])


def test_pushforward_takes_none_for_a_zero_tangent():
    y, push = wg.pushforward(product, 2.0, 3.0)
    assert y == 8.0
    assert push(1.0, None) == 4.0
    assert push(None, 1.0) == 2.0
    assert push(1.0, 1.0) == 6.0
    assert push(None, None) == 0.0


def test_pushforward_of_containers():
    _, push = wg.pushforward(lambda d: (d["a"] * d["b"][0], d["a"]), {"a": 2.0, "b": [3.0]})
    assert push({"a": 1.0, "b": [10.0]}) == (23.0, 1.0)
    assert push({"a": 1.0, "b": [None]}) == (3.0, 1.0)


# From a function to a function


def test_grad_of_the_first_argument_by_default():
    assert wg.grad(product)(2.0, 3.0) == 4.0


def test_grad_argnums():
    assert wg.grad(product, argnums=1)(2.0, 3.0) == 2.0
    assert wg.grad(product, argnums=(0,))(2.0, 3.0) == (4.0,)
    assert wg.grad(product, argnums=(1, 0))(2.0, 3.0) == (2.0, 4.0)
    assert wg.grad(product, argnums=-1)(2.0, 3.0) == 2.0


def test_grad_has_aux():
    def with_aux(x):
        y = x * x
        return y, {"seen": y, "name": "square"}

    slope, aux = wg.grad(with_aux, has_aux=True)(3.0)
    assert (slope, aux) == (6.0, {"seen": 9.0, "name": "square"})
    (value, aux), slope = wg.value_and_grad(with_aux, has_aux=True)(3.0)
    assert (value, aux["name"], slope) == (9.0, "square", 6.0)


def test_value_and_grad():
    assert wg.value_and_grad(square)(3.0) == (9.0, 6.0)
    assert wg.value_and_grad(product, argnums=(0, 1))(2.0, 3.0) == (8.0, (4.0, 2.0))
    value, _ = wg.value_and_grad(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    assert value == 5.0


def test_grad_takes_keywords_and_defaults():
    def scaled(x, factor=2.0, *, shift=1.0):
        return factor * x * x + shift * x

    slope = wg.grad(scaled)
    assert slope(3.0) == 13.0
    assert slope(3.0, 1.0) == 7.0
    assert slope(3.0, shift=0.0) == 12.0
    assert slope(3.0, factor=1.0) == 7.0


def test_grad_as_a_decorator():
    @wg.grad
    def slope(x):
        """A cube."""
        return x**3

    assert slope(2.0) == 12.0
    assert slope.__doc__ == "A cube."


def test_derivative():
    assert wg.derivative(lambda x: x**2)(3) == 6.0
    assert isinstance(wg.derivative(lambda x: x**2)(3), float)
    assert wg.derivative(lambda x: x**4, order=3)(2.0) == 48.0
    assert wg.derivative(lambda x: x**4, order=2)(2) == 48.0


def test_derivative_of_any_output_shape():
    close(
        wg.derivative(lambda t: np.array([math.sin(t), t * t]))(0.5),
        np.array([math.cos(0.5), 1.0]),
    )
    assert wg.derivative(lambda t: (t * t, [3 * t]))(2.0) == (4.0, [3.0])
    assert wg.derivative(lambda t: {"a": t**3})(2.0) == {"a": 12.0}
    close(wg.derivative(lambda t: np.outer([t, 1.0], [1.0, t]))(3.0), np.array([[1.0, 6], [0, 1]]))


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_jacobian(mode):
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = wg.jacobian(lambda x: matrix @ x, mode=mode)(np.ones(3))
    assert found.tolist() == matrix.tolist()
    x = np.array([0.5, 1.5])
    found = wg.jacobian(lambda x: x**2, mode=mode)(x)
    assert found.tolist() == [[1.0, 0.0], [0.0, 3.0]]
    found = wg.jacobian(lambda x, y: x * y, argnums=1, mode=mode)(x, np.ones(2))
    assert found.tolist() == [[0.5, 0.0], [0.0, 1.5]]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobian_has_the_shape_of_the_result_and_then_of_the_argument(mode):
    m = np.arange(6.0).reshape(2, 3)
    assert wg.jacobian(lambda m: m.T * 2, mode=mode)(m).shape == (3, 2, 2, 3)
    assert wg.jacobian(lambda m: np.sum(m, axis=0), mode=mode)(m).shape == (3, 2, 3)
    assert wg.jacobian(lambda m: np.sum(m), mode=mode)(m).tolist() == [[1.0] * 3] * 2
    assert wg.jacobian(lambda t: m * t, mode=mode)(2.0).tolist() == m.tolist()


def test_jacobian_of_several_arguments():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    by_x, by_y = wg.jacobian(lambda x, y: x * y, argnums=(0, 1))(x, y)
    assert by_x.tolist() == [[3.0, 0.0], [0.0, 4.0]]
    assert by_y.tolist() == [[1.0, 0.0], [0.0, 2.0]]


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def test_hessian():
    x = np.array([0.5, 2.0])
    expected = [[2 - 400 * (2.0 - 3 * 0.25), -200.0], [-200.0, 200.0]]
    close(wg.hessian(rosenbrock)(x), np.array(expected))
    assert wg.hessian(lambda t: t**3)(2.0) == 12.0


def test_hvp_is_the_hessian_times_a_vector():
    x, v = np.array([0.5, 2.0]), np.array([1.0, -3.0])
    close(wg.hvp(rosenbrock)(x, v), wg.hessian(rosenbrock)(x) @ v)
    assert wg.hvp(lambda t: t**3)(2.0, 10.0) == 120.0
    assert wg.hvp(lambda a, t: a * t**3, argnums=1)(2.0, 1.0, 1.0) == 12.0


def compositions():
    x = np.array([0.3, -0.7])
    yield "grad of grad", lambda f: wg.grad(lambda t: np.sum(wg.grad(f)(t) ** 2))(x)
    yield "forward over reverse", lambda f: wg.pushforward(wg.grad(f), x)[1](np.array([1.0, 2.0]))
    yield "reverse over forward", lambda f: wg.grad(lambda t: wg.pushforward(f, t)[1](t))(x)
    yield "hessian", lambda f: wg.hessian(f)(x)
    yield "jacobian of grad", lambda f: wg.jacobian(wg.grad(f))(x)
    yield "gradient inside", lambda f: wg.gradient(lambda t: np.sum(wg.gradient(f, t)[0]), x)[0]
    yield "pullback inside", lambda f: wg.grad(lambda t: np.sum(wg.pullback(f, t)[1](2.0)[0]))(x)
    yield "value_and_grad inside", lambda f: wg.grad(value_and_slope(f))(x)


def value_and_slope(f):
    def g(t):
        value, slope = wg.value_and_grad(f)(t)
        return value * np.sum(slope)

    return g


HESSIAN = np.array([[-math.sin(0.3), 2.0], [2.0, -0.7 * 6]])


def cubic(x):
    return np.sin(x[0]) + 2 * x[0] * x[1] + x[1] ** 3


@pytest.mark.parametrize(
    ("name", "compute"), list(compositions()), ids=lambda c: c if type(c) is str else ""
)
def test_everything_nests(name, compute):
    x = np.array([0.3, -0.7])
    slope = np.array([math.cos(0.3) - 1.4, 0.6 + 3 * 0.49])
    expected = {
        "grad of grad": 2 * HESSIAN @ slope,
        "forward over reverse": HESSIAN @ np.array([1.0, 2.0]),
        "reverse over forward": slope + HESSIAN @ x,
        "hessian": HESSIAN,
        "jacobian of grad": HESSIAN,
        "gradient inside": HESSIAN.sum(axis=0),
        "pullback inside": 2 * HESSIAN.sum(axis=0),
        "value_and_grad inside": cubic(x) * HESSIAN.sum(axis=0) + slope * slope.sum(),
    }[name]
    close(compute(cubic), expected)


def test_derivatives_of_derivatives_with_numbers():
    f = math.sin
    assert wg.grad(wg.grad(wg.grad(f)))(1.0) == -math.cos(1.0)
    assert wg.derivative(wg.grad(f))(1.0) == -math.sin(1.0)
    assert wg.grad(wg.derivative(f))(1.0) == -math.sin(1.0)
    assert wg.derivative(lambda x: wg.derivative(lambda y: x * y**2)(x))(3.0) == 12.0


def test_options_of_a_derivative_may_be_captured_values():
    def radial(f, wrt):
        def slope(x, y):
            x_bar, y_bar = wg.grad(f, argnums=wrt)(x, y)
            return x * x_bar + y * y_bar

        return slope

    assert radial(product, (0, 1))(2.0, 3.0) == 14.0
    assert wg.grad(radial(product, (0, 1)))(2.0, 3.0) == 7.0


# Reading


def test_code_prints_itself():
    f = programs.scalars.used_many_times
    for text in (wg.code_ir(f, 1.0), wg.code_adjoint(f, 1.0), wg.code_tangent(f, 1.0)):
        assert isinstance(text, str)
        assert repr(text) == str(text)
    assert "y_bar" in wg.code_adjoint(f, 1.0)
    assert "x_dot" in wg.code_tangent(f, 1.0)


def test_code_without_example_arguments_is_general():
    special = wg.grad(square).specialize(2.0).source
    assert len(special) < len(wg.grad(square).source)
    assert wg.code_adjoint(square)
    assert wg.code_ir(square)
    assert wg.code_tangent(square)


def test_source_names_the_users_lines():
    f = programs.scalars.used_many_times
    source = wg.grad(f).specialize(2.0).source
    first = f.__code__.co_firstlineno
    lines = {int(line) for line in re.findall(r"# .*scalars\.py:(\d+)", source)}
    assert lines
    assert lines <= set(range(first + 1, first + 4))


def test_general_source_is_good_for_any_kinds():
    namespace = {}
    exec(wg.grad(programs.arrays.elementwise).source, namespace)
    found = [f for name, f in namespace.items() if callable(f) and not name.startswith("_")][-1]
    for x in (0.7, 2, np.array([0.1, 0.2]), np.ones((2, 2))):
        close(found(x), wg.grad(programs.arrays.elementwise)(x))


def test_save_and_import_without_wengert(tmp_path):
    gradient = wg.grad(programs.models.logistic_regression, argnums=(0, 1))
    gradient.save(tmp_path / "saved.py")
    assert (tmp_path / "saved.py").read_text() == str(gradient.source)
    weights, bias = np.array([0.3, -0.4]), 0.1
    script = (
        "import sys; sys.modules['wengert'] = None\n"
        "import saved, numpy as np\n"
        "f = [f for n, f in vars(saved).items() if callable(f) and not n.startswith('_')][-1]\n"
        "w, b = f(np.array([0.3, -0.4]), 0.1)\n"
        "print(*w.tolist(), float(b))\n"
    )
    printed = run_python(script, tmp_path, importable=False)
    expected = gradient(weights, bias)
    close([float(x) for x in printed.split()], [*expected[0].tolist(), expected[1]])


def run_python(script, folder, importable=True):
    paths = [str(Path(wg.__file__).parents[1]), str(TESTS), str(HELPERS)] if importable else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_specialize_gives_the_same_function():
    gradient = wg.grad(programs.models.logistic_regression, argnums=(0, 1))
    args = (np.array([0.3, -0.4]), 0.1)
    special = gradient.specialize(*args)
    close(special(*args), gradient(*args))
    assert "def " in special.source
    assert special.save


DERIVATIVES = {
    "grad": wg.grad(programs.scalars.polynomial),
    "value_and_grad": wg.value_and_grad(programs.scalars.polynomial),
    "derivative": wg.derivative(programs.scalars.polynomial, order=2),
    "jacobian": wg.jacobian(programs.scalars.polynomial),
    "hessian": wg.hessian(programs.scalars.polynomial),
    "specialised": wg.grad(programs.scalars.polynomial).specialize(1.0),
    "nested": wg.grad(wg.grad(programs.scalars.polynomial)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_pickle_into_a_fresh_process(name, tmp_path):
    derivative = DERIVATIVES[name]
    copied = pickle.loads(pickle.dumps(derivative))
    assert copied(0.7) == derivative(0.7)
    (tmp_path / "derivative.pickle").write_bytes(pickle.dumps(derivative))
    script = "import pickle\nprint(pickle.load(open('derivative.pickle', 'rb'))(0.7))"
    assert run_python(script, tmp_path).strip() == str(derivative(0.7))


# Steering


def test_stop_gradient():
    assert wg.gradient(lambda a, b: wg.stop_gradient(a) * b, 2.0, 3.0) == (0.0, 2.0)
    assert wg.stop_gradient(3.0) == 3.0
    assert wg.derivative(lambda x: wg.stop_gradient(x * x) * x)(3.0) == 9.0
    (found,) = wg.gradient(lambda x: np.sum(wg.stop_gradient(x) * x), np.array([1.0, 2.0]))
    assert found.tolist() == [1.0, 2.0]


def test_checkpoint_runs_again_instead_of_keeping(capsys):
    def announced(x):
        print("run", end=" ")
        return math.sin(x * x)

    assert wg.checkpoint(announced)(1.0) == math.sin(1.0)
    capsys.readouterr()
    _, back = wg.pullback(lambda x: wg.checkpoint(announced)(x) * x, 0.7)
    assert capsys.readouterr().out == "run "
    (found,) = back(1.0)
    assert capsys.readouterr().out == "run "
    (expected,) = wg.gradient(lambda x: math.sin(x * x) * x, 0.7)
    close(found, expected)


def test_hook():
    assert wg.gradient(lambda a, b: wg.hook(lambda a_bar: -a_bar, a) * b, 2.0, 3.0) == (-3.0, 2.0)
    assert wg.hook(lambda a_bar: -a_bar, 2.0) == 2.0
    seen = []

    def watch(x_bar):
        seen.append(x_bar)
        return x_bar

    assert wg.gradient(lambda x: wg.hook(watch, x * x) * 3, 2.0) == (12.0,)
    assert seen == [3.0]


def test_show_grad(capsys):
    assert wg.gradient(lambda a, b: wg.show_grad(a, "a") * b, 2.0, 3.0) == (3.0, 2.0)
    assert capsys.readouterr().out.strip() == "∂(a) = 3.0"
    assert wg.gradient(lambda a: wg.show_grad(a, "a") * a, 2.0) == (4.0,)
    assert capsys.readouterr().out.strip() == "∂(a) = 2.0"
    assert wg.show_grad(2.0) == 2.0


def test_is_differentiating():
    def switched(x):
        return x * x if wg.is_differentiating() else 2 * x * x

    assert wg.is_differentiating() is False
    assert switched(3.0) == 18.0
    assert wg.gradient(switched, 3.0) == (6.0,)
    assert wg.derivative(switched, order=2)(1.0) == 2.0


# Rules


def test_rrule():
    def external(x, y):
        return float(np.sin(x)) * y

    @wg.rrule(external)
    def rule(x, y):
        return math.sin(x) * y, lambda z_bar: (z_bar * math.cos(x) * y, z_bar * math.sin(x) * 100)

    close(wg.gradient(external, 0.5, 2.0), (math.cos(0.5) * 2, math.sin(0.5) * 100))
    close(wg.gradient(lambda x: external(x * x, 3.0), 0.5), (math.cos(0.25) * 3,))


def test_rrule_with_one_argument_may_return_a_bare_value():
    def external(x):
        return x * 0

    wg.rrule(external)(lambda x: (x**2, lambda y_bar: y_bar * 7))
    assert wg.gradient(external, 3.0) == (7.0,)
    assert wg.value_and_grad(external)(3.0) == (9.0, 7.0)


def test_frule():
    def external(x, y):
        return x * y

    @wg.frule(external)
    def rule(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, tangents
        return x * y, 10 * (x_dot * y + x * y_dot)

    _, push = wg.pushforward(external, 2.0, 3.0)
    assert push(1.0, 1.0) == 50.0
    _, push = wg.pushforward(lambda x: external(x, x), 2.0)
    assert push(1.0) == 40.0


def test_scalar_rule_drives_both_modes():
    def special(x, y):
        return math.hypot(x, y)

    wg.scalar_rule(special, lambda x, y, Ω: x / Ω, lambda x, y, Ω: y / Ω)
    close(wg.gradient(special, 3.0, 4.0), (0.6, 0.8))
    _, push = wg.pushforward(special, 3.0, 4.0)
    close(push(1.0, 10.0), 8.6)
    close(wg.derivative(lambda x: special(x, 4.0), order=2)(3.0), 16 / 125)


def test_zero_rule():
    def steps(x):
        return x * 5

    wg.zero_rule(steps)
    assert wg.gradient(lambda x: steps(x) * x, 2.0) == (10.0,)


def test_opt_out_goes_back_to_the_functions_own_code():
    def own(x):
        return x**3

    wg.rrule(own)(lambda x: (x**3, lambda y_bar: -1.0))
    assert wg.gradient(own, 2.0) == (-1.0,)
    wg.opt_out(own)
    assert wg.gradient(own, 2.0) == (12.0,)


def test_rules_take_effect_at_once():
    def helper(x):
        return x * 2

    def uses(x):
        return helper(x) + x

    slope = wg.grad(uses)
    general, special = slope(1.0), slope.specialize(1.0)
    assert (general, special(1.0)) == (3.0, 3.0)
    wg.rrule(helper)(lambda x: (x * 2, lambda y_bar: y_bar * 50))
    assert slope(1.0) == 51.0
    wg.rrule(helper)(lambda x: (x * 2, lambda y_bar: y_bar * 60))
    assert slope(1.0) == 61.0
    wg.scalar_rule(helper, lambda x, Ω: 70.0)
    assert slope(1.0) == 71.0


def test_redefinition_takes_effect_at_once():
    namespace = SimpleNamespace(helper=lambda x: x * 2)

    def uses(x):
        return namespace.helper(x)

    slope = wg.grad(uses)
    assert slope(1.0) == 2.0
    namespace.helper = lambda x: x * 3
    assert slope(1.0) == 3.0


def test_rules_for_captured_functions_and_for_the_function_itself():
    def own(x):
        return x * 0

    def calls(f):
        return lambda x: f(x) + x

    wg.rrule(own)(lambda x: (x * 2, lambda y_bar: y_bar * 7))
    assert wg.gradient(own, 3.0) == (7.0,)
    assert wg.gradient(lambda x: own(x), 3.0) == (7.0,)
    assert wg.gradient(calls(own), 3.0) == (8.0,)
    assert wg.gradient(lambda f, x: f(x), own, 3.0)[1] == 7.0
    assert wg.pullback(own, 3.0)[0] == 6.0


def test_rules_for_closures():
    def make(k):
        def own(x):
            return x * k

        return own

    own = make(3.0)
    wg.rrule(own)(lambda x: (x * 2, lambda y_bar: y_bar * 7))
    assert wg.gradient(own, 1.0) == (7.0,)
    assert wg.gradient(lambda x: own(x), 1.0) == (7.0,)
    assert wg.gradient(make(3.0), 1.0) == (3.0,)


def test_what_a_closure_captures_may_change():
    table = {"f": lambda x: x * 2, "w": 1.0}
    slope = wg.grad(lambda x: table["f"](x) * table["w"])
    assert slope(1.0) == 2.0
    table["w"] = 10.0
    assert slope(1.0) == 20.0
    table["f"] = math.sin
    assert slope(0.0) == 10.0


def test_rule_says_what_is_used_and_where_it_is_written():
    text = str(wg.rule(math.sin))
    assert "cos(x)" in text
    assert ".py:" in text

    def mine(x):
        return x

    wg.scalar_rule(mine, lambda x, Ω: 1.0)
    line = test_rule_says_what_is_used_and_where_it_is_written.__code__.co_firstlineno + 8
    assert f"test_contract.py:{line}" in str(wg.rule(mine))


# Checking


def test_check_gradient_accepts_what_is_right():
    wg.testing.check_gradient(programs.scalars.polynomial, 0.7)
    wg.testing.check_gradient(programs.models.logistic_regression, np.array([0.3, -0.4]), 0.1)


def changed_in_place(x, times):
    for _ in range(times):
        x[1:] *= x[0]
    return x.sum()


def counted(table, places, n):
    return sum(table[places]) * n


def test_check_gradient_of_functions_that_count_and_change_their_arguments():
    x = np.array([0.7, 1.1, 2.0])
    wg.testing.check_gradient(changed_in_place, x, 3)
    assert x.tolist() == [0.7, 1.1, 2.0]
    wg.testing.check_gradient(counted, x, np.array([0, 2]), 3)
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        wg.testing.check_gradient(lambda n: sum(k * 1.0 for k in range(n)), 3.0)


def test_check_gradient_says_what_is_wrong():
    def wrong(x, y):
        return x * y

    wg.rrule(wrong)(lambda x, y: (x * y, lambda z_bar: (z_bar * y, z_bar * x * 1.001)))
    with pytest.raises(AssertionError) as caught:
        wg.testing.check_gradient(wrong, 2.0, 3.0)
    message = str(caught.value)
    assert "argument 1" in message
    assert "expected" in message.lower()
    assert "found" in message.lower()


def test_check_rule():
    wg.testing.check_rule(math.sin, 0.7)
    wg.testing.check_rule(np.sin, 0.7)
    wg.testing.check_rule(wg.ops.exp, 0.7)
    wg.testing.check_rule(np.linalg.inv, np.array([[2.0, 0.3], [0.1, 1.5]]))

    def wrong(x):
        return math.sin(x)

    wg.scalar_rule(wrong, lambda x, Ω: -Ω)
    with pytest.raises(AssertionError, match=r"(?i)expected"):
        wg.testing.check_rule(wrong, 0.7)


# What a gradient looks like


@dataclass
class Model:
    weight: float
    layers: list
    name: str = "model"


@dataclass(frozen=True)
class FrozenModel:
    weight: float
    count: int


Point = namedtuple("Point", "x y")


class Plain:
    def __init__(self, weight, array):
        self.weight = weight
        self.array = array
        self.name = "plain"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (3.0, 6.0),
        (3, 6.0),
        (np.float64(3.0), 6.0),
        (np.int64(3), 6.0),
        (1 + 2j, 2 + 4j),
    ],
)
def test_gradient_of_a_number(argument, expected):
    (found,) = wg.gradient(lambda x: abs(x) ** 2, argument)
    close(found, expected)
    assert isinstance(found, complex if isinstance(argument, complex) else float)


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int8", "uint8", "complex128", "complex64"]
)
def test_gradient_of_an_array(dtype):
    x = np.array([[1, 2, 3]], dtype=dtype)
    before = x.copy()
    (found,) = wg.gradient(lambda x: np.sum(np.abs(x) ** 2), x)
    assert type(found) is np.ndarray
    assert found.shape == (1, 3)
    assert found.dtype == (x.dtype if x.dtype.kind in "fc" else np.float64)
    assert found.real.tolist() == [[2.0, 4.0, 6.0]]
    assert (x == before).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64"])
def test_mixed_dtypes_do_not_leak(dtype):
    x = np.array([1, 2], dtype=dtype)
    weights = np.array([0.5, 0.25])
    (found,) = wg.gradient(lambda x: np.sum(np.real(x) * weights * 2.0), x)
    assert found.dtype == (x.dtype if x.dtype.kind in "fc" else np.float64)
    assert found.tolist() == [1.0, 0.5]


def test_arrays_built_of_numbers_do_not_leak_their_dtype():
    (found,) = wg.gradient(lambda x: np.sum(np.array([x, x])) + x, 2.0)
    assert type(found) in (float, np.float64)
    (found,) = wg.gradient(lambda x: np.sum(np.array([x, 1])) * 3, 2)
    assert type(found) in (float, np.float64)


def test_an_array_result_may_meet_a_number_in_a_loop():
    def f(x):
        u = np.sum(np.array([x, x]) * x)
        for i in range(0):
            u += 0.1 * i
        return u

    assert wg.gradient(f, 2.0) == (8.0,)


def test_a_complex_path_gives_a_real_array_a_real_gradient():
    x = np.array([1.0, 2.0])
    (found,) = wg.gradient(lambda x: np.sum(np.imag((1 + 2j) * x) ** 2), x)
    assert found.dtype == np.float64
    assert found.tolist() == [8.0, 16.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * 2,
        lambda x: x * 2 if x > 0 else x,
        lambda x: 3 * x if x in [2.0, 5.0] else x,
        lambda x: -x,
        lambda x: sum([x, x]),
        lambda x: np.sum(x) + 1,
        lambda x: x * True,
        lambda x: x if x == 7 else 2 * x,
    ],
)
@pytest.mark.parametrize("x", [2.0, 2])
def test_the_gradient_of_a_number_is_always_a_float(f, x):
    for found in (wg.gradient(f, x)[0], wg.derivative(f)(x), wg.grad(f).specialize(x)(x)):
        assert type(found) in (float, np.float64)
    assert type(wg.value_and_grad(f)(x)[1]) in (float, np.float64)


def test_gradient_of_a_zero_dimensional_array():
    (found,) = wg.gradient(lambda x: x * x, np.array(3.0))
    assert isinstance(found, np.ndarray)
    assert found.shape == ()
    assert found == 6.0


def test_gradient_of_an_empty_array():
    (found,) = wg.gradient(lambda x: np.sum(x * x), np.zeros((0, 3)))
    assert found.shape == (0, 3)


def test_gradient_of_containers():
    def loss(t):
        (a, b), c, d = t
        return a * b + c[0] * d["k"] * 2

    argument = ((1.0, 2), [3.0], {"k": 4.0, "s": "text"})
    (found,) = wg.gradient(loss, argument)
    assert found == ((2.0, 1.0), [8.0], {"k": 6.0, "s": None})
    assert [type(x) for x in found] == [tuple, list, dict]


def test_gradient_of_a_named_tuple():
    (found,) = wg.gradient(lambda p: p.x * p.x, Point(3.0, 2.0))
    assert found == Point(6.0, 0.0)
    assert type(found) is Point


def test_gradient_of_a_dataclass():
    (found,) = wg.gradient(lambda m: m.weight * m.layers[0], Model(2.0, [3.0, 4.0]))
    assert found == Model(3.0, [2.0, 0.0], None)
    (frozen,) = wg.gradient(lambda m: m.weight * m.count, FrozenModel(2.0, 3))
    assert frozen == FrozenModel(3.0, 2.0)


def test_gradient_of_an_object():
    (found,) = wg.gradient(lambda p: p.weight * np.sum(p.array), Plain(2.0, np.ones(3)))
    assert isinstance(found, SimpleNamespace)
    assert found.weight == 3.0
    assert found.array.tolist() == [2.0, 2.0, 2.0]
    assert set(vars(found)) - {"name"} == {"weight", "array"}
    assert getattr(found, "name", None) is None


def test_gradient_of_a_closure():
    def make(a, b, name):
        def f(x):
            assert name
            return a * x + b

        return f

    found, x_bar = wg.gradient(lambda f, x: f(x), make(2.0, 3.5, "line"), 4.0)
    assert isinstance(found, SimpleNamespace)
    assert (found.a, found.b) == (4.0, 1.0)
    assert getattr(found, "name", None) is None
    assert x_bar == 2.0


def plain_function(x):
    return x * 2


@pytest.mark.parametrize(
    "argument", ["text", True, False, None, plain_function, math.sin, int, b"x"]
)
def test_gradient_of_what_has_no_derivative(argument):
    assert wg.gradient(lambda a, x: x * 3.0, argument, 2.0) == (None, 3.0)


def test_gradient_of_what_the_result_does_not_reach():
    def loss(a, b, c, d, e):
        return a * 1.0

    found = wg.gradient(loss, 1.0, 2, np.ones((2, 2), np.float32), {"k": [1.0, 2j]}, (3.0, None))
    assert found[:2] == (1.0, 0.0)
    assert (found[2] == 0).all()
    assert found[2].dtype == np.float32
    assert found[3] == {"k": [0.0, 0j]}
    assert found[4] == (0.0, None)
    assert [type(x) for x in found[3]["k"]] == [float, complex]


def test_a_gradient_shares_memory_with_nothing():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    cases = [
        lambda x, y: np.sum(x + y),
        lambda x, y: np.sum(x * y),
        lambda x, y: np.sum(x.reshape(2, 1) + y[None]),
        lambda x, y: x[0] + y[1],
        lambda x, y: np.dot(x, y),
        lambda x, y: np.sum(np.concatenate([x, y])),
    ]
    for f in cases:
        first, second = wg.gradient(f, x, y), wg.gradient(f, x, y)
        _, back = wg.pullback(f, x, y)
        third, fourth = back(1.0), back(1.0)
        arrays = [x, y, *first, *second, *third, *fourth]
        for i, a in enumerate(arrays):
            assert i < 2 or a.flags.writeable
            assert not any(np.shares_memory(a, b) for b in arrays[i + 1 :])


def test_a_gradient_does_not_share_the_cotangent():
    x, y_bar = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    _, back = wg.pullback(lambda x: x, x)
    (found,) = back(y_bar)
    assert not np.shares_memory(found, y_bar)
    _, back = wg.pullback(lambda x, y: x + y, x, x)
    first, second = back(y_bar)
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, y_bar)


def test_arguments_are_left_alone():
    argument = {"a": [1.0, np.array([1.0, 2.0])], "b": (3.0,)}
    wg.gradient(lambda d: np.sum(d["a"][1] * d["a"][0]) * d["b"][0], argument)
    assert argument["a"][0] == 1.0
    assert argument["a"][1].tolist() == [1.0, 2.0]
    assert argument["b"] == (3.0,)


def test_exceptions_leave_nothing_behind():
    def fails(x):
        if x > 1:
            raise KeyError("x")
        return x * x

    slope = wg.grad(fails)
    with pytest.raises(KeyError):
        slope(2.0)
    assert slope(0.5) == 1.0
    assert not wg.is_differentiating()


# The oracle agrees with the contract's signs


def test_the_complex_gradient_is_the_oracles():
    z = 0.3 - 0.8j
    close(wg.gradient(lambda z: (z**3).real, z), oracle.gradient(lambda z: (z**3).real, z))


def test_public_names():
    names = """gradient pullback pushforward grad value_and_grad derivative jacobian hessian hvp
        code_ir code_adjoint code_tangent stop_gradient checkpoint hook show_grad is_differentiating
        scalar_rule linear_rule bilinear_rule zero_rule differential rrule frule opt_out rule
        testing""".split()
    assert [name for name in names if not hasattr(wg, name)] == []
    assert len([name for name in dir(wg) if not name.startswith("_")]) <= 60


def test_arguments_that_only_the_run_counts():
    """`*given[:count]`: each has a gradient of its own, so how many there are is to be known."""

    def of_cotangents(count):
        def cotangents(*given):
            return wg.pullback(lambda w: np.sum(np.tanh(w) ** 2), *given[:count])[1](given[1])

        return cotangents

    w = np.array([0.7, 0.2])
    (slope,), back = wg.pullback(of_cotangents(1), w, 1.0)
    assert slope == pytest.approx(2 * np.tanh(w) / np.cosh(w) ** 2)
    first, second = back((np.ones(2),))
    assert first == pytest.approx((2 - 4 * np.sinh(w) ** 2) / np.cosh(w) ** 4)
    assert second == pytest.approx(np.sum(slope))
