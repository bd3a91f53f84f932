"""Solutions of equations: exact derivatives of every order, whatever the solver is."""

# programs under test are written as users write them

import functools
import inspect
import itertools
import math
import pickle
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest
from error_texts import message, place, refusal
from scipy import optimize
from scipy.sparse.linalg import LinearOperator, gmres

import wengert as wg
from wengert.errors import BadArgument, NotASolution

MODES = ("forward", "reverse")


def close(found, expected, rtol=1e-9):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)


# --- one number: x³ + x = a, by every kind of solver ---------------------------------------


def cubic(x, a):
    return x**3 + x - a


def newton(a):
    x = 1.0
    while abs(cubic(x, a)) > 1e-14 * abs(a):
        x = x - cubic(x, a) / (3 * x * x + 1)
    return x


def newton_annotated(a) -> float:
    return newton(a)


def bisection(a):
    low, high = 0.0, max(1.0, a)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if cubic(middle, a) < 0 else (low, middle)
    return low


def brent(a):
    return optimize.brentq(lambda x: cubic(x, a), 0.0, 10.0, xtol=1e-15)


def by_root(a):
    return optimize.root(lambda x: cubic(x, a), 1.0, tol=1e-14).x[0]


namespace = {"newton": newton}
exec("def without_source(a): return newton(a)", namespace)
SOLVERS = [newton, newton_annotated, bisection, brent, by_root, namespace["without_source"]]
POINT = 3.0


@functools.cache
def exact(order):
    """The derivatives of the solution, and of a function of it, at 50 digits."""
    with mp.workdps(50):
        solution = lambda a: mp.findroot(lambda x: x**3 + x - a, 1)
        f = lambda a: solution(a) * mp.sin(a * solution(a))
        return float(mp.diff(solution, POINT, order)), float(mp.diff(f, POINT, order))


VERBS = {
    "grad": wg.grad,
    "derivative": wg.derivative,
    "jacobian": lambda f: wg.jacobian(f, mode="reverse"),
    "pushforward": lambda f: lambda a: wg.pushforward(f, a)[1](1.0),
    "pullback": lambda f: lambda a: wg.pullback(f, a)[1](1.0)[0],
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("verbs", [v for n in (1, 2) for v in itertools.product(VERBS, repeat=n)])
def test_derivatives_in_every_mix_of_verbs(solver, verbs):
    solution = wg.implicit(cubic, solver)

    def f(a):
        x = solution(a)
        return x * math.sin(a * x)

    of_solution, of_f = solution, f
    for verb in verbs:
        of_solution, of_f = VERBS[verb](of_solution), VERBS[verb](of_f)
    close(of_solution(POINT), exact(len(verbs))[0])
    close(of_f(POINT), exact(len(verbs))[1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_recorded_run_runs_the_solver_as_it_is(solver):
    solution = wg.implicit(cubic, solver)
    recorded = functools.partial(wg.grad, tier="recorded")
    close(recorded(solution)(POINT), exact(1)[0])
    close(recorded(recorded(solution))(POINT), exact(2)[0])
    close(
        recorded(lambda a: wg.implicit(cubic, solver)(a) * math.sin(a * solution(a)))(POINT),
        exact(1)[1],
    )
    close(solution(wg.Dual(POINT, 1.0)).tangent, exact(1)[0])


def test_a_recorded_run_refuses_what_is_no_solution():
    rough = wg.implicit(cubic, lambda a: 1.0)
    with pytest.raises(NotASolution, match="the residual there is 1, where"):
        wg.grad(rough, tier="recorded")(POINT)
    double_root = wg.implicit(lambda x, a: (x - a) ** 2, lambda a: a + 0.0)
    with pytest.raises(np.linalg.LinAlgError, match="is singular here"):
        wg.grad(double_root, tier="recorded")(POINT)
    in_a_list = wg.implicit(lambda x, a: [x[0] - a], lambda a: [a])
    with pytest.raises(wg.errors.UnsupportedSyntax, match="a solution that is a list"):
        wg.grad(lambda a: in_a_list(a)[0], tier="recorded")(POINT)
    assert wg.grad(lambda a: a * in_a_list(2.0)[0], tier="recorded")(POINT) == 2.0


@pytest.mark.parametrize("solver", [newton, newton_annotated])
@pytest.mark.parametrize("verbs", list(itertools.product(VERBS, repeat=3)))
def test_third_derivatives(solver, verbs):
    solution = wg.implicit(cubic, solver)
    for verb in verbs:
        solution = VERBS[verb](solution)
    close(solution(POINT), exact(3)[0])


def test_higher_orders_and_hessians():
    solution = wg.implicit(cubic, newton)
    close(wg.derivative(solution, order=3)(POINT), exact(3)[0])
    close(wg.derivative(solution, order=4)(POINT), exact(4)[0])
    close(wg.hessian(solution)(POINT), exact(2)[0])
    close(wg.hvp(solution)(POINT, 1.0), exact(2)[0])
    close(wg.diag_hessian(solution)(POINT), exact(2)[0])


def test_the_solver_runs_once_and_as_it_is():
    calls = []

    def solver(a):
        calls.append(a)
        return newton(a)

    solution = wg.implicit(cubic, solver)
    wg.grad(solution)(POINT)
    assert calls == [POINT]
    wg.grad(wg.grad(wg.grad(solution)))(POINT)
    assert calls == [POINT, POINT]
    assert solution(POINT) == newton(POINT)
    assert len(calls) == 3


def test_a_decorator():
    @wg.implicit(cubic)
    def solution(a):
        return newton(a)

    close(wg.grad(solution)(POINT), exact(1)[0])


def test_it_is_an_ordinary_function():
    solution = wg.implicit(cubic, newton)
    assert solution.__name__ == "newton"
    assert list(inspect.signature(solution).parameters) == ["a"]
    assert repr(solution) == "<implicit newton>"
    again = pickle.loads(pickle.dumps(solution))
    close(wg.grad(again)(POINT), exact(1)[0])


def test_the_derivative_reads_like_a_textbook():
    solution = wg.implicit(cubic, newton_annotated)
    text = wg.grad(lambda a: solution(a) ** 2).specialize(POINT).source
    assert "3 * x**2 + 1.0" in text
    assert "_check_root(x, x**3 + x - a, " in text


# --- arrays ---------------------------------------------------------------------------------

P = np.array([[2.0, 0.3, -0.1], [0.2, 3.0, 0.5], [-0.4, 0.1, 2.5]])
B = np.array([1.0, 2.0, 0.7])
V = np.array([0.3, 1.0, -0.5])


def cubes(x, b):
    return (P @ x) ** 3 - b


def by_hybr(b):
    return optimize.root(lambda x: cubes(x, b), np.ones(3), tol=1e-14).x


def by_hybr_annotated(b) -> np.ndarray:
    return by_hybr(b)


def closed(b):
    """The same solution as a formula."""
    return np.linalg.solve(P, b ** (1 / 3))


@pytest.fixture(params=[by_hybr, by_hybr_annotated])
def array_solution(request):
    return wg.implicit(cubes, request.param)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian(array_solution, mode):
    close(wg.jacobian(array_solution, mode=mode)(B), wg.jacobian(closed)(B))


@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=3)))
def test_derivatives_of_an_array_to_third_order(array_solution, modes):
    f = lambda b: np.sum(np.sin(array_solution(b)) * V)
    g = lambda b: np.sum(np.sin(closed(b)) * V)
    for mode in modes:
        f, g = wg.jacobian(f, mode=mode), wg.jacobian(g)
        close(f(B), g(B))


def test_hessian_and_hvp(array_solution):
    f = lambda b: np.sum(array_solution(b) ** 2)
    g = lambda b: np.sum(closed(b) ** 2)
    close(wg.hessian(f)(B), wg.hessian(g)(B))
    close(wg.hvp(f)(B, V), wg.hvp(g)(B, V))
    close(wg.diag_hessian(f)(B), wg.diag_hessian(g)(B))


def test_a_matrix_as_the_solution():
    def square_root(a):
        values, vectors = np.linalg.eigh(a)
        return vectors * np.sqrt(values) @ vectors.T

    solution = wg.implicit(lambda x, a: x @ x - a, square_root)
    a = P @ P.T
    x, push = wg.pushforward(solution, a)
    direction = P + P.T
    tangent = push(direction)
    close(x @ tangent + tangent @ x, direction)
    _, back = wg.pullback(solution, a)
    close(np.sum(back(direction)[0] * P), np.sum(direction * push(P)))


def test_single_precision_stays_single():
    solution = wg.implicit(lambda x, a: x * x - a, lambda a: np.sqrt(a))
    a = np.array([4.0, 9.0], np.float32)
    gradient = wg.grad(lambda a: np.sum(solution(a)))(a)
    assert gradient.dtype == np.float32
    close(gradient, np.array([1 / 4, 1 / 6]), rtol=1e-6)


# --- complex numbers ------------------------------------------------------------------------


def test_a_complex_solution_of_a_real_argument():
    solution = wg.implicit(lambda x, a: x * x + a, lambda a: 1j * math.sqrt(a))

    def f(a):
        x = solution(a)
        return (x * x.conjugate()).real + 3 * x.imag

    expected = [1 + 3 / 4, -3 / 32, 9 / 256]
    for order, value in enumerate(expected, 1):
        close(wg.derivative(f, order=order)(4.0), value)
        g = f
        for _ in range(order):
            g = wg.grad(g)
        close(g(4.0), value)


@pytest.mark.parametrize(
    ("residual", "formula"),
    [
        (lambda x, a: x * x - a, lambda a: np.sqrt(a)),
        (lambda x, a: x + 0.3 * np.conj(x) - a, lambda a: (a - 0.3 * np.conj(a)) / 0.91),
    ],
    ids=["holomorphic", "not holomorphic"],
)
def test_complex_arguments(residual, formula):
    solution = wg.implicit(residual, formula)
    a, v = np.array([1 + 2j, 3 - 0.5j]), np.array([0.3 - 1j, 2j])
    f = lambda a: np.sum(np.abs(solution(a)) ** 2 + solution(a).real)
    g = lambda a: np.sum(np.abs(formula(a)) ** 2 + formula(a).real)
    close(wg.grad(f)(a), wg.grad(g)(a))
    close(wg.hvp(f)(a, v), wg.hvp(g)(a, v))


# --- containers -----------------------------------------------------------------------------


def pair(z, a, b):
    u, w = z
    return u * u + w - a, w**3 - b * u


def solved_pair(a, b):
    u = w = 1.0
    for _ in range(40):
        r, s = pair((u, w), a, b)
        det = 6 * u * w * w + b
        u, w = u - (3 * r * w * w - s) / det, w - (2 * u * s + b * r) / det
    return u, w


def of_pair(u, w):
    return u * w + math.sin(u)


def expected_of_pair(a, b):
    return of_pair(*solved_pair(a, b))


@dataclass
class Pair:
    u: float
    w: float


SHAPES = {
    "tuple": (pair, solved_pair, lambda z: of_pair(z[0], z[1])),
    "list": (
        lambda z, a, b: list(pair(z, a, b)),
        lambda a, b: list(solved_pair(a, b)),
        lambda z: of_pair(*z),
    ),
    "dict": (
        lambda z, a, b: dict(zip(("r", "s"), pair((z["u"], z["w"]), a, b))),
        lambda a, b: dict(zip(("w", "u"), solved_pair(a, b)[::-1])),
        lambda z: of_pair(z["u"], z["w"]),
    ),
    "dataclass": (
        lambda z, a, b: pair((z.u, z.w), a, b),
        lambda a, b: Pair(*solved_pair(a, b)),
        lambda z: of_pair(z.u, z.w),
    ),
    "array and number": (
        lambda z, a, b: [
            np.array([pair((z[0][0], z[1]), a, b)[0]]),
            pair((z[0][0], z[1]), a, b)[1],
        ],
        lambda a, b: (np.array(solved_pair(a, b)[:1]), solved_pair(a, b)[1]),
        lambda z: of_pair(z[0][0], z[1]),
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_in_containers(shape):
    residual, solver, read = SHAPES[shape]
    solution = wg.implicit(residual, solver)
    f = lambda a, b: read(solution(a, b))
    close(wg.gradient(f, 2.0, 1.5), wg.gradient(expected_of_pair, 2.0, 1.5))
    close(wg.grad(wg.grad(f), 1)(2.0, 1.5), wg.grad(wg.grad(expected_of_pair), 1)(2.0, 1.5))
    close(
        wg.derivative(lambda a: f(a, 1.5), order=2)(2.0),
        wg.derivative(lambda a: expected_of_pair(a, 1.5), order=2)(2.0),
    )


def test_arguments_in_containers():
    solution = wg.implicit(
        lambda x, p: x * x - p["k"].u * p["a"][0], lambda p: math.sqrt(p["k"].u * p["a"][0])
    )
    gradient = wg.grad(solution)({"k": Pair(2.0, 5.0), "a": [8.0, 1.0], "name": "spring"})
    assert gradient == {"k": Pair(1.0, 0.0), "a": [0.25, 0.0], "name": None}


def test_keyword_arguments():
    solution = wg.implicit(lambda x, a, *, p: x**p - a, lambda a, *, p: a ** (1 / p))
    close(wg.grad(lambda a: solution(a, p=3.0))(8.0), 1 / 12)
    close(wg.grad(lambda p: solution(8.0, p=p))(3.0), -2 * math.log(8) / 9)


def test_a_first_guess_has_a_gradient_of_zero():
    def solver(guess, a):
        return optimize.newton(lambda x: x * x - a, guess, tol=1e-14)

    solution = wg.implicit(lambda x, guess, a: x * x - a, solver)
    assert wg.gradient(solution, 1.0, 4.0)[0] == 0.0
    close(wg.gradient(solution, 1.0, 4.0)[1], 0.25)


def test_a_whole_number_as_the_solution():
    solution = wg.implicit(lambda x, a: x * x - a, lambda a: 2)
    close(wg.grad(solution)(4.0), 0.25)
    close(wg.grad(wg.grad(solution))(4.0), -1 / 32)


# --- what the residual captured -------------------------------------------------------------


def scaled_cubic(c):
    def residual(x, a):
        return x**3 + c * x - a

    def solver(a):
        x = 1.0
        for _ in range(60):
            x = x - residual(x, a) / (3 * x * x + c)
        return x

    return wg.implicit(residual, solver)


def test_captured_values_have_gradients():
    captured, of_a = wg.gradient(lambda solve, a: solve(a), scaled_cubic(2.0), 3.0)
    close(captured.residual.c, -1 / 5)
    close(of_a, 1 / 5)


def test_a_solution_made_inside_the_program():
    f = lambda c, a: scaled_cubic(c)(a)
    close(wg.gradient(f, 2.0, 3.0), (-1 / 5, 1 / 5))
    close(wg.grad(wg.grad(f), 1)(2.0, 3.0), (wg.grad(wg.grad(f, 1)))(2.0, 3.0))


def test_a_solver_that_the_program_captured():
    scale = 2.0

    def solver(a):
        return math.sqrt(a / scale)

    def f(a):
        return wg.implicit(lambda x, a: scale * x * x - a, solver)(a)

    close(wg.grad(f)(8.0), 1 / 8)
    close(wg.grad(wg.grad(f))(8.0), -1 / 128)
    captured = wg.gradient(lambda f, a: f(a), f, 8.0)[0]
    close(captured.scale, -1 / 2)


def test_a_decorated_solver_inside_the_program():
    def f(c, a):
        @wg.implicit(lambda x: x**3 + c * x - a)
        def solution():
            x = 1.0
            while abs(x**3 + c * x - a) > 1e-14:
                x = x - (x**3 + c * x - a) / (3 * x * x + c)
            return x

        return solution()

    close(wg.gradient(f, 2.0, 3.0), (-1 / 5, 1 / 5))


def test_a_solution_inside_the_program_of_several_numbers():
    def f(a, b):
        solution = wg.implicit(lambda z: pair(z, a, b), lambda: solved_pair(a, b))
        u, w = solution()
        return of_pair(u, w)

    close(wg.gradient(f, 2.0, 1.5), wg.gradient(expected_of_pair, 2.0, 1.5))


class Spring:
    def __init__(self, k):
        self.k = k

    def force(self, x, a):
        return self.k * x * x - a

    def __call__(self, x, a):
        return self.k * x * x - a


@pytest.mark.parametrize(
    "residual",
    [
        Spring(2.0),
        Spring(2.0).force,
        functools.partial(lambda k, x, a: k * x * x - a, 2.0),
    ],
    ids=["object", "bound method", "partial"],
)
def test_residuals_of_every_kind(residual):
    solution = wg.implicit(residual, lambda a: math.sqrt(a / 2))
    close(wg.grad(solution)(8.0), 1 / 8)
    close(wg.grad(wg.grad(solution))(8.0), -1 / 128)


def test_a_gradient_as_the_residual():
    """Where a function is smallest its gradient vanishes: bilevel optimisation."""
    energy = lambda x, t: np.sum((x - t) ** 4) + np.sum(x * x)
    slope = wg.grad(energy)
    lowest = wg.implicit(slope, lambda t: optimize.root(slope, t / 2, (t,), tol=1e-14).x)
    t = np.array([1.0, 2.0])
    x = lowest(t)
    rate = lambda x, t: 12 * (x - t) ** 2 / (12 * (x - t) ** 2 + 2)
    close(wg.jacobian(lowest)(t), np.diag(rate(x, t)))
    second = [
        wg.derivative(lambda h, x=x, t=t: rate(x + h * rate(x, t), t + h))(0.0)
        for x, t in zip(x, t)
    ]
    close(wg.hessian(lambda t: np.sum(lowest(t)))(t), np.diag(second))


# --- inside programs ------------------------------------------------------------------------

root = wg.implicit(lambda x, a: x * x - a, lambda a: math.sqrt(a))
roots = wg.implicit(lambda x, a: x * x - a, lambda a: np.sqrt(a))


def repeated(root):
    def f(a):
        for _ in range(5):
            a = root(a) + a
        return a

    return f


def until(root):
    def f(a):
        while a < 50.0:
            a = a + root(a)
        return a

    return f


def branching(root):
    def f(a):
        return root(a) if a > 1 else root(a + 3) * a

    return f


def recursive(root):
    def f(a, n=3):
        return a if n == 0 else f(root(a) + a, n - 1)

    return f


@pytest.mark.parametrize("program", [repeated, until, branching, recursive])
def test_inside_loops_branches_and_recursion(program):
    found, expected = program(root), program(math.sqrt)
    for order in (1, 2, 3):
        value = wg.derivative(expected, order=order)(2.0)
        close(wg.derivative(found, order=order)(2.0), value)
        f = found
        for _ in range(order):
            f = wg.grad(f)
        close(f(2.0), value)


def test_inside_checkpoints_and_stop_gradient():
    close(wg.grad(wg.grad(lambda a: wg.checkpoint(root)(a) ** 3))(4.0), 3 / 8)
    close(wg.grad(lambda a: wg.stop_gradient(root(a)) * a)(4.0), 2.0)


def test_a_solution_in_a_residual():
    formula = lambda x: x + math.sqrt(x + 1)
    solution = wg.implicit(
        lambda x, a: x + root(x + 1.0) - a,
        lambda a: optimize.brentq(lambda x: formula(x) - a, 0.0, 100.0, xtol=1e-15),
    )
    with mp.workdps(50):
        inverse = lambda a: mp.findroot(lambda x: x + mp.sqrt(x + 1) - a, 3)
        first, second = (float(mp.diff(inverse, 5, n)) for n in (1, 2))
    close(wg.grad(solution)(5.0), first)
    close(wg.grad(wg.grad(solution))(5.0), second)
    close(wg.derivative(solution, order=2)(5.0), second)


def test_fixed_points():
    """The map x ↦ cos(a x) has one."""

    @wg.implicit(lambda x, a: math.cos(a * x) - x)
    def fixed_point(a):
        x = 0.5
        for _ in range(200):
            x = math.cos(a * x)
        return x

    with mp.workdps(50):
        exact = lambda a: mp.findroot(lambda x: mp.cos(a * x) - x, 0.7)
        expected = [float(mp.diff(exact, mp.mpf("0.9"), n)) for n in (1, 2, 3)]
    for order, value in enumerate(expected, 1):
        close(wg.derivative(fixed_point, order=order)(0.9), value)


def test_the_solution_may_be_changed_afterwards():
    def f(a):
        x = roots(a)
        total = np.sum(x)
        x[0] *= 2.0
        x += 1.0
        return np.sum(x * a) + total

    def g(a):
        x = np.sqrt(a)
        return np.sum(np.array([2 * x[0] + 1, x[1] + 1]) * a) + np.sum(x)

    a = np.array([4.0, 9.0])
    close(wg.grad(f)(a), wg.grad(g)(a))
    close(wg.hessian(f)(a), wg.hessian(g)(a))


def test_the_arguments_may_be_changed_afterwards():
    def f(a):
        b = a.copy()
        x = roots(b)
        b[0] = 100.0
        return np.sum(x) + b[1]

    a = np.array([4.0, 9.0])
    close(wg.grad(f)(a), np.array([1 / 4, 1 / 6 + 1]))
    close(wg.jacobian(f, mode="forward")(a), np.array([1 / 4, 1 / 6 + 1]))


def test_general_source_runs():
    text = wg.grad(lambda a: root(a) ** 3).source
    names = {"root": root}
    exec(text.replace("# NameError: root", "# given: root"), names)
    gradient = next(v for k, v in names.items() if k.startswith("grad_"))
    close(gradient(4.0), 3.0)


# --- linear systems of one's own --------------------------------------------------------------


def with_gmres(matvec, b):
    operator = LinearOperator((b.size, b.size), matvec)
    return gmres(operator, b, rtol=1e-13, atol=0.0)[0]


def test_a_linear_solver_of_ones_own():
    solution = wg.implicit(cubes, by_hybr, linear_solve=with_gmres)
    f = lambda b: np.sum(np.sin(solution(b)) * V)
    g = lambda b: np.sum(np.sin(closed(b)) * V)
    close(wg.grad(f)(B), wg.grad(g)(B))
    close(wg.jacobian(f, mode="forward")(B), wg.grad(g)(B))
    close(wg.hessian(f)(B), wg.hessian(g)(B), rtol=1e-8)
    close(wg.jacobian(wg.hessian(f))(B), wg.jacobian(wg.hessian(g))(B), rtol=1e-7)


def test_no_matrix_is_formed_for_it():
    products = []

    def diagonal(matvec, b):
        products.append(1)
        return b / matvec(np.ones(b.size))

    n = 1000
    solution = wg.implicit(lambda x, a: x * x - a, lambda a: np.sqrt(a), linear_solve=diagonal)
    a = np.linspace(1.0, 2.0, n)
    close(wg.grad(lambda a: np.sum(solution(a)))(a), 0.5 / np.sqrt(a))
    assert len(products) == 1


# --- refusals ---------------------------------------------------------------------------------

EXPLAINED = """\
The derivative of a solution holds only at a solution. Let the solver converge further, see
that it solves the same equation as the residual, or allow more with `tol=`."""


def rough_float(a) -> float:
    return 1.9


@pytest.mark.parametrize("solver", [rough_float, lambda a: 1.9])
@pytest.mark.parametrize("verb", [wg.grad, wg.derivative, wg.hessian])
def test_a_solver_that_did_not_converge(solver, verb):
    rough = wg.implicit(lambda x, a: x * x - a, solver)

    def f(a):
        return 2 * rough(a)

    error = refusal("WG211", ValueError, lambda: verb(f)(4.0))
    assert type(error) is NotASolution
    assert str(error) == message(
        "WG211",
        "the solver's result is not a solution: the residual there is 0.39, where an error of "
        "0.0001 in it would make 0.00072",
        place(f, 1, "rough(a)", "f"),
        EXPLAINED,
    )
    assert f(4.0) == 3.8


def test_a_residual_of_another_equation():
    solution = wg.implicit(lambda x, a: x * x - 2 * a, lambda a: np.sqrt(a))
    refusal("WG211", ValueError, lambda: wg.grad(lambda a: np.sum(solution(a)))(B))


def test_a_solution_that_is_no_number():
    solution = wg.implicit(lambda x, a: x - a, lambda a: math.nan)
    refusal("WG211", ValueError, lambda: wg.grad(solution)(1.0))


def test_how_much_is_allowed():
    solver = lambda a: math.sqrt(a) * (1 + 1e-6)
    residual = lambda x, a: x * x - a
    close(wg.grad(wg.implicit(residual, solver))(4.0), 0.25, rtol=1e-5)
    strict = wg.implicit(residual, solver, tol=1e-8)
    refusal("WG211", ValueError, lambda: wg.grad(strict)(4.0))
    rough = wg.implicit(residual, rough_float, tol=0.1)
    close(wg.grad(rough)(4.0), 1 / 3.8)
    anything = wg.implicit(residual, rough_float, tol=None)
    close(wg.grad(anything)(4.0), 1 / 3.8)


def test_units_do_not_matter():
    """The check asks how far the solution is off, not how large the residual is."""
    large = wg.implicit(lambda x, a: 1e12 * (x * x - a), lambda a: math.sqrt(a) * (1 + 1e-7))
    close(wg.grad(large)(4.0), 0.25, rtol=1e-6)
    small = wg.implicit(lambda x, a: 1e-12 * (x * x - a), rough_float)
    refusal("WG211", ValueError, lambda: wg.grad(small)(4.0))


SINGULAR = (
    "the Jacobian of the residual with respect to the solution is singular here, so the solution "
    "has no derivative: it is a multiple root, or there are solutions arbitrarily close to it"
)


def exactly(a) -> float:
    return a


@pytest.mark.parametrize(
    ("residual", "solver", "at"),
    [
        (lambda x, a: (x - a) ** 2, exactly, 4.0),
        (lambda x, a: (x - a) ** 2, lambda a: a, 4.0),
        (lambda x, a: np.ones((3, 3)) @ (x - a), lambda a: a, B),
        (lambda x, a: np.array([x[0] - a[0], x[1] - a[1], 0.0]), lambda a: a, B),
        (lambda x, a: P @ (x - a) * np.array([1.0, 1.0, 0.0]), lambda a: a, B),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_singular_jacobian(residual, solver, at, mode):
    solution = wg.implicit(residual, solver)
    with pytest.raises(np.linalg.LinAlgError) as caught:
        wg.jacobian(lambda a: np.sum(solution(a)), mode=mode)(at)
    assert str(caught.value) == SINGULAR


def test_badly_scaled_systems_are_not_singular():
    scales = np.array([1e-20, 1.0, 1e20])
    solution = wg.implicit(lambda x, a: scales * (x - a), lambda a: a.copy())
    close(wg.jacobian(solution)(B), np.eye(3))


def test_more_equations_than_unknowns():
    solution = wg.implicit(lambda x, a: np.array([x - a, x + a]), lambda a: a)
    error = refusal("WG211", ValueError, lambda: wg.grad(solution)(1.0))
    assert str(error).startswith("[WG211] the residual has 2 numbers, but the solution has 1\n")


LINEAR = wg.implicit(lambda x, a: 2 * x - a, lambda a: a / 2, linear_solve=lambda matvec, b: b)
NOT_A_VECTOR = wg.implicit(
    lambda x, a: 2 * x - a, lambda a: a / 2, linear_solve=lambda matvec, b: (b, 0)
)


def test_a_linear_solver_that_does_not_solve():
    error = refusal("WG211", ValueError, lambda: wg.grad(lambda a: np.sum(LINEAR(a)))(B))
    assert str(error).startswith("[WG211] `linear_solve` left a residual of 1.7, where b is 1.7\n")


def test_a_linear_solver_that_returns_something_else():
    call = lambda: wg.grad(lambda a: np.sum(NOT_A_VECTOR(a)))(B)
    error = refusal("WG211", ValueError, call)
    assert "`linear_solve` must return an array of shape (3,), not a tuple" in str(error)


def test_something_that_is_no_function():
    error = refusal("WG202", TypeError, lambda: wg.implicit(3.0, newton))
    assert type(error) is BadArgument
    assert str(error) == message(
        "WG202",
        "`residual` must be a function, not 3.0",
        None,
        "Call it like this: `wg.implicit(residual, solver)`.",
    )


def test_a_solver_inside_the_program_that_cannot_be_read():
    def f(a):
        solve = wg.implicit(
            lambda x, a: x * x - a,
            lambda a: eval("a ** 0.5"),
        )
        return solve(a)

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(4.0))
    assert "the solver is made inside the program that is differentiated, so it is read" in str(
        error
    )
    assert "Make the solver outside and pass what it needs as arguments" in str(error)


def test_a_linear_solver_inside_the_program():
    def f(a):
        scale = 2 * a
        solve = wg.implicit(
            lambda x, a: x * x - a, lambda a: a**0.5, linear_solve=lambda m, b: b / scale
        )
        return solve(a)

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(4.0))
    assert "`linear_solve` is made inside the program that is differentiated" in str(error)


def test_a_tolerance_that_depends_on_the_run():
    def f(a):
        return wg.implicit(lambda x, a: x * x - a, lambda a: a**0.5, tol=a)(a)

    error = refusal("WG202", TypeError, lambda: wg.grad(f)(4.0))
    assert "`tol` of `wg.implicit` must be known when the program is read" in str(error)
