"""Exceptions that the program catches: the path that is taken has its derivative."""

# programs under test are written as users write them
# ruff: noqa: TRY301, E722

import contextlib
import dataclasses
import enum
import functools
import math
import sys

import numpy as np
import pytest
from differences import agree
from standing_alone import alone

import wengert as wg

# --- what is raised by Python -------------------------------------------------------------


def log_or_square(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x * x
    return 2 * y


def test_the_path_that_is_taken():
    agree(log_or_square, 2.0, 0.5, -1.5)


def quotient(x):
    try:
        return x**2 / (x - 3)
    except ZeroDivisionError:
        return x**3


def test_division_by_zero():
    agree(quotient, 2.0, 5.0)
    agree(quotient, 3.0, only=lambda x: x**3)


def sum_until_it_fails(x):
    total = 0.0
    try:
        for k in range(10):
            total += x**2 * k / (7 - k)
    except ZeroDivisionError:
        total = total * x
    return total


def test_a_loop_keeps_what_its_iterations_have_done():
    agree(sum_until_it_fails, 1.5)


def iteration_in_part(x):
    a, b = x, x * x
    try:
        for k in range(8):
            a = a + b * 0.1
            c = math.sqrt(5 - k * x)
            b = b + a * c
    except ValueError:
        pass
    return a * b


def test_the_failing_iteration_counts_in_part():
    agree(iteration_in_part, 1.1, 0.9)


def statements_in_part(x):
    y = x
    try:
        y = x * 2
        z = 1 / (x - 3)
        y = y * z
        w = math.log(y)
        y = y * w
    except (ZeroDivisionError, ValueError):
        y = y * 10
    return y


def test_names_keep_what_they_had_before_the_failing_statement():
    agree(statements_in_part, 3.5, 2.0)
    agree(statements_in_part, 3.0, only=lambda x: 20 * x)


def indices(x):
    xs = [x, x * x]
    found = 0.0
    for k in range(4):
        try:
            found += xs[k] * (k + 1)
        except IndexError:
            found += x**3
    return found


def keys(x):
    table = {"a": x, "b": math.sin(x)}
    total = 0.0
    for name in ("a", "b", "c"):
        try:
            total += table[name] ** 2
        except KeyError as missing:
            total += len(missing.args[0]) * x
    return total


def test_indices_and_keys():
    agree(indices, 1.5)
    agree(keys, 0.7)


def singular(x):
    a = np.array([[x, 1.0], [1.0, x]]) if x != 1 else np.ones((2, 2)) * x
    try:
        return np.linalg.inv(a)[0, 0] * x
    except np.linalg.LinAlgError:
        return x**4


def test_singular_matrices():
    agree(singular, 2.0, 3.0)
    agree(singular, 1.0, only=lambda x: x**4)


def overflow(x):
    try:
        y = math.exp(x + 709)
    except OverflowError:
        return math.exp(-x)
    return math.log(y) ** 2


def test_overflow():
    agree(overflow, 2.0)
    agree(overflow, -0.3, -1.0, second=False)


def any_exception(x):
    try:
        return math.sqrt(x) + math.log(x)
    except Exception:
        return x * x


def bare_except(x):
    try:
        return math.acos(x)
    except:
        return x**3


def test_wide_handlers():
    agree(any_exception, 2.0, -2.0)
    agree(bare_except, 0.5, 2.0)


def arithmetic(x):
    try:
        return (x + 1) / (x - x)
    except ArithmeticError:
        return x**2


def test_base_classes():
    agree(arithmetic, 2.0)


# --- what the program raises --------------------------------------------------------------


def finally_row(x, fail):
    try:
        y = 2.0 * x
        if fail:
            raise RuntimeError("no")
    except RuntimeError:
        y = x * 4
    finally:
        z = 3.0
    return y * z


def else_row(x, fail):
    try:
        y = 2 * x
        if fail:
            raise ValueError("no")
    except ValueError:
        y = 3 * y
    else:
        y = 4 * y
    return 2 * y / 2


def try_catch_finally(cond, x):
    ok = False
    try:
        x = 2 * x
        if cond:
            raise RuntimeError("invalid")
        x = 3 * x / 2
    except RuntimeError:
        x = 2 * x
    finally:
        ok = True
        x = 2 * x if not cond else 3 * x
    return x if ok else 0.0


def try_catch_else(cond, x):
    x = 2 * x
    try:
        if cond:
            raise RuntimeError("invalid")
    except RuntimeError:
        x = 3 * (2 * x)
        return x
    else:
        x = 2 * x
    return 2 * x


def test_the_rows_of_the_seed_systems():
    for row in (try_catch_finally, try_catch_else):
        value, gradient = wg.value_and_grad(row, argnums=1)(True, 1.0)
        assert (value, gradient) == (12.0, 12.0)
    assert wg.value_and_grad(try_catch_finally, argnums=1)(False, 1.0) == (6.0, 6.0)
    assert wg.value_and_grad(try_catch_else, argnums=1)(False, 1.0) == (8.0, 8.0)
    assert wg.gradient(finally_row, 1.0, False)[0] == 6.0
    assert wg.gradient(finally_row, 1.0, True)[0] == 12.0
    assert wg.gradient(else_row, 1.0, False)[0] == 8.0
    assert wg.gradient(else_row, 1.0, True)[0] == 6.0


def checked(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return math.sqrt(x)


def raised_in_a_called_function(x):
    try:
        return checked(x) + 1
    except ValueError as error:
        return x**2 if "negative" in str(error) else x


class Found(Exception):
    def __init__(self, value):
        super().__init__("found")
        self.value = value


def search(x):
    k = 0
    while True:
        k += 1
        if x * k > 10:
            raise Found(x * k)


def carried_out(x):
    try:
        search(x)
    except Found as found:
        return found.value**2
    return 0.0


def args_of_exception(x):
    try:
        raise ValueError("bad", x * x)
    except ValueError as error:
        text, value = error.args
        return value * len(text)


def test_exceptions_carry_values():
    agree(raised_in_a_called_function, 2.0, -2.0)
    agree(carried_out, 3.1)
    agree(args_of_exception, 2.0)


def reraised(x):
    try:
        try:
            return math.sqrt(x)
        except ValueError as error:
            raise KeyError("other") from error
    except KeyError as error:
        return x**3 if isinstance(error.__cause__, ValueError) else x


def raised_again(x):
    try:
        try:
            return math.log(x)
        except ValueError:
            x = x * 2
            raise
    except ValueError:
        return x**2


def test_raised_again():
    agree(reraised, 2.0, -2.0)
    agree(raised_again, 2.0, -2.0)


def which_handler(x):
    try:
        if x > 10:
            raise KeyError("large")
        y = math.sqrt(x) / (x - 4)
    except (KeyError, IndexError):
        return x**3
    except ZeroDivisionError:
        return x**2
    except ValueError as error:
        return -x * len(str(error)) / len(str(error))
    return y


def test_the_first_handler_that_fits():
    agree(which_handler, 2.0, 11.0, -3.0)
    agree(which_handler, 4.0, only=lambda x: x**2)


def inner_and_outer(x):
    try:
        try:
            y = 1 / (x - 1)
        except ValueError:
            y = 5.0
        finally:
            x = x * 2
    except ZeroDivisionError:
        y = x * 7
    return y


def handler_that_raises(x):
    try:
        try:
            return math.log(x)
        except ValueError:
            return math.sqrt(x + 1)
    except ValueError:
        return x**2


def test_nested():
    agree(inner_and_outer, 3.0)
    agree(inner_and_outer, 1.0, only=lambda x: 14 * x)
    agree(handler_that_raises, 2.0, -0.5, -3.0)


def asserted(x):
    try:
        assert x > 1, "small"
        return x**2
    except AssertionError:
        return 5 * x


def test_assert():
    agree(asserted, 2.0, 0.5)


class Problem(ValueError):
    """With what it holds."""

    def __init__(self, message, *, residual):
        super().__init__(message)
        self.residual = residual


def newton(x):
    guess = 1.0
    for _ in range(3):
        guess = guess - (guess * guess - x) / (2 * guess)
    residual = guess * guess - x
    if abs(residual) > 1e-3:
        raise Problem("no convergence", residual=residual)
    return guess


def with_residual(x):
    try:
        return newton(x)
    except Problem as problem:
        return problem.residual * 3 + len(problem.args)


def test_classes_of_the_user():
    agree(with_residual, 1.2, 90.0)


# --- ways out -----------------------------------------------------------------------------


def returns_through_finally(x):
    log = []
    try:
        if x > 1:
            return x * x
        log.append(x)
    finally:
        log.append(x * 3)
    return sum(log)


def finally_returns(x):
    try:
        return math.log(x)
    finally:
        if x < 0:
            return x**2  # noqa: B012


def finally_changes_a_number_that_is_known(x):
    rate = 0.4
    try:
        try:
            raise KeyError
        finally:
            rate += math.sin(rate)
    except Exception:
        rate += 0.1
    return rate * x


def finally_changes_what_a_name_refers_to(x):
    step = math.sin
    try:
        try:
            x = x * {}["rate"]
        finally:
            math.log(x)
            step = math.cos
    except LookupError:
        x = step(x)
    return x


def loop_with_finally(x):
    total, count = 0.0, 0
    for k in range(6):
        try:
            if k == 1:
                continue
            if k == 4:
                break
            total += x**k
        finally:
            count += 1
            total += 0.1 * x
    return total * count


def returns_in_the_handler(x):
    for k in range(5):
        try:
            x = x + math.sqrt(3 - k * x)
        except ValueError:
            return x * k
    return x


def test_ways_out():
    agree(returns_through_finally, 2.0, 0.5)
    agree(finally_returns, 2.0, -2.0)
    agree(finally_changes_a_number_that_is_known, 2.0)
    agree(finally_changes_what_a_name_refers_to, 2.0)
    agree(loop_with_finally, 1.3)
    agree(returns_in_the_handler, 0.8, 1.4)


def tries_again(x):
    step = 4.0
    tries = 0
    while True:
        try:
            y = math.sqrt(x - step)
            break
        except ValueError:
            step = step * 0.3 * x / 2
            tries += 1
            if tries > 6:
                return x
    return y * tries + step


def test_tries_until_it_works():
    agree(tries_again, 1.2, 5.0)


def leaves_from_the_handler(x):
    total = 0.0
    for k in range(6):
        try:
            total += math.log(4 - k - x)
        except ValueError:
            total *= x
            break
    else:
        total += 100.0
    return total


def test_break_in_a_handler():
    agree(leaves_from_the_handler, 0.5, 1.5)


# --- objects that change ------------------------------------------------------------------


def appended(x):
    xs = [x, 2 * x]
    try:
        xs.append(x * 3)
        y = math.sqrt(x - 5)
        xs.append(y)
    except ValueError:
        xs.append(x * x)
    return sum(value * (k + 1) for k, value in enumerate(xs))


def written(x):
    a = np.array([x, x * x, 1.0])
    try:
        a[0] = a[1] * 2
        a[int(x) * 3] = a[0] * 3
        a[1] = 7.0
    except IndexError:
        a[2] = a[0] * a[1]
    return a.sum()


class Counter:
    def __init__(self, start):
        self.value = start
        self.steps = 0

    def step(self, x):
        self.steps += 1
        self.value = self.value * x
        self.value = self.value + math.sqrt(2 - x)
        return self.value


def object_in_part(x):
    counter = Counter(x)
    try:
        y = counter.step(x) + counter.step(x + 1)
    except ValueError:
        y = 5 * x
    return y * counter.value * counter.steps


def test_what_was_done_to_objects_stays_done():
    agree(appended, 6.0, 2.0)
    agree(written, 0.5, 1.5)
    agree(object_in_part, 0.5, 1.5, 2.5)


def test_an_argument_is_left_as_the_program_leaves_it():
    def f(a, k):
        try:
            a[0] = a[1] * 2
            a[k] = 3.0
        except IndexError:
            a[2] = a[0]
        return a.sum()

    for k in (1, 9):
        ours, theirs = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
        gradient = wg.gradient(f, ours, k)[0]
        f(theirs, k)
        assert ours.tolist() == theirs.tolist()
        assert gradient.tolist() == ([0.0, 2.0, 1.0] if k == 1 else [0.0, 5.0, 0.0])


# --- recursion, and functions known only when the program runs ---------------------------


def descend(x, n):
    if n == 0:
        return math.sqrt(x - 4)
    return x * descend(x - 1, n - 1)


def recursion(x):
    try:
        return descend(x, 3)
    except ValueError:
        return x**2


def depth(x, n):
    try:
        if n == 0:
            return math.log(x)
        return depth(x - 1, n - 1) * x
    except ValueError:
        return x * n


def recursive_handlers(x):
    return depth(x, 3)


def test_recursion():
    agree(recursion, 9.0, 5.0)
    agree(recursive_handlers, 5.0, 2.5)


def by_name(x, name):
    functions = {"log": math.log, "sqrt": math.sqrt}
    try:
        return functions[name](x)
    except ValueError:
        return x * 2
    except KeyError:
        return x * 3


def test_functions_of_a_table():
    for x, name, expected in ((2.0, "log", 0.5), (-2.0, "sqrt", 2.0), (1.0, "tan", 3.0)):
        assert wg.gradient(by_name, x, name)[0] == expected
        assert wg.pushforward(by_name, x, name)[1](1.0, None) == expected


# --- what is not caught -------------------------------------------------------------------


def only_zero_division(x):
    try:
        y = math.sqrt(x)
        return y / (x - 1)
    except ZeroDivisionError:
        return x


def steep(x):
    return x + 1


def caught_steepness(x):
    try:
        return 2 * steep(x)
    except ValueError:
        return x


def finally_and_out(x, log):
    try:
        return math.sqrt(x)
    finally:
        log.append("done")


def test_others_come_out_unchanged():
    from error_texts import last_line

    for verb in (wg.gradient, lambda f, x: wg.pushforward(f, x)[1](1.0)):
        with pytest.raises(ValueError, match=r"math domain error|nonnegative") as caught:
            verb(only_zero_division, -1.0)
        assert last_line(caught.value) == "y = math.sqrt(x)"


def test_what_a_derivative_raises_is_not_caught():
    wg.scalar_rule(steep, lambda x, Ω: 1 / math.sqrt(x))
    assert wg.gradient(caught_steepness, 4.0) == (1.0,)
    assert wg.pushforward(caught_steepness, 4.0)[1](1.0) == 1.0
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        wg.gradient(caught_steepness, -1.0)
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        wg.pushforward(caught_steepness, -1.0)[1](1.0)
    assert wg.gradient(caught_steepness, 0.0) == (math.inf,)  # a quotient has its limit


def test_finally_runs_on_the_way_out():
    log = []
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        wg.gradient(finally_and_out, -1.0, log)
    assert log == ["done"]
    assert wg.gradient(finally_and_out, 4.0, log)[0] == 0.25
    assert log == ["done", "done"]


class Box:
    def __init__(self, v, w):
        self.v, self.w = v, w


def held_past_one_handler(x):
    b = np.array([x, 2 * x])
    p = Box(x, b)
    try:
        if x > 0.1:
            raise ValueError
        p.v *= x
    except ValueError:
        pass
    p.w[1] = 9 * x * x
    return b.sum() + p.w.sum() * p.v


def held_past_two_handlers(x):
    b = np.array([x, 2 * x])
    p = Box(x, b)
    for k in range(2):
        try:
            if x > 0.8 * k:
                raise ValueError
            p.v *= x
        except ValueError:
            p.v += 1
    p.w[1] = 9 * x * x
    return b.sum() + p.w.sum() * p.v


def held_past_a_handler_and_a_branch(x):
    b = np.array([x, 2 * x])
    p = Box(x, b)
    try:
        if x < 0.1:
            raise ValueError
        p.v *= x
    except ValueError:
        pass
    if x > 0.3:
        p.v *= 2
    p.w[1] = 9 * x * x
    return b.sum() + p.w.sum() * p.v


@pytest.mark.parametrize(
    "program", [held_past_one_handler, held_past_two_handlers, held_past_a_handler_and_a_branch]
)
def test_an_object_that_a_handler_met_is_still_the_same(program):
    assert wg.pullback(program, 0.7)[0] == pytest.approx(program(0.7))
    agree(program, 0.7, 0.2, 0.05)


def test_what_only_a_try_assigns_is_kept_once_in_general_source():
    """The snapshot of `t`, which the lists of the groups share, used to be asked for again and again."""
    report = [("A", "21.5", 0.4), ("B", "n/a", 0.5), ("A", "22.5", 0.6)]

    def means(gain, bias):
        groups = {}
        for name, text, humidity in report:
            try:
                t = float(text) * gain + bias
            except ValueError:
                continue
            groups.setdefault(name, []).append(t * humidity)
        return sum(sum(group) / len(group) for group in groups.values())

    wg.testing.check_gradient(means, 1.1, 0.2)
    assert "def grad_means(gain, bias" in wg.grad(means, (0, 1)).source


def carried_by_an_error_of_the_system(x):
    try:
        raise OSError("late", x * x)
    except OSError as error:
        return error.args[1] * x


def carried_out_of_a_function(x):
    def fails():
        raise TimeoutError(x * x)

    try:
        fails()
    except OSError as error:
        return error.args[0] * x


def carried_in_a_group(x):
    try:
        raise ExceptionGroup("both", [ValueError(x), ValueError(x * x)])
    except ExceptionGroup as group:
        return group.exceptions[1].args[0] * x


CARRIED = [carried_by_an_error_of_the_system, carried_out_of_a_function, carried_in_a_group]


@pytest.mark.parametrize("f", CARRIED)
@pytest.mark.parametrize("way", [wg.grad, wg.derivative])
def test_no_derivative_is_lost_in_what_python_makes_itself(f, way):
    with pytest.raises(wg.WengertError) as raised:
        way(f)(1.3)
    assert raised.value.code == "WG103"
    assert "what an exception carries" in str(raised.value)


# --- recursion that changes something, and then raises ------------------------------------


class State:
    def __init__(self, value):
        self.value = value
        self.left = 0.0


def a_list_of_its_own(x):
    out = []

    def walk(i, p):
        if i == 3:
            raise IndexError("no more")
        out.append(p * x)
        walk(i + 1, p * x)

    try:
        walk(0, 1.0)
    except IndexError:
        pass
    return sum(each**2 for each in out)


def filled(out, i, p, x):
    if i == 3:
        return out["nothing"] if isinstance(out, dict) else out[7]
    out[i] = p * x
    return filled(out, i + 1, p * x, x)


def an_array_that_is_given(x):
    out = np.zeros(4)
    try:
        filled(out, 0, 1.0, x)
    except IndexError:
        out[3] = x
    return (out**2).sum()


def a_dictionary_that_is_given(x):
    out = {}
    try:
        filled(out, 0, 1.0, x)
    except KeyError:
        pass
    return sum(each**2 for each in out.values())


def moved_on(state, i, x):
    if i == 3:
        raise ValueError("too far")
    state.value = state.value * x + 1.0
    moved_on(state, i + 1, x)


def an_object_that_is_given(x):
    state = State(x)
    try:
        moved_on(state, 0, x)
    except ValueError:
        pass
    return state.value


def an_outer_name(x):
    t = x

    def go(i):
        nonlocal t
        t = t * x
        if i == 2:
            raise ValueError("enough")
        go(i + 1)

    try:
        go(0)
    except ValueError:
        pass
    return t


def seen_in_the_end(x):
    state = State(x)

    def run():
        try:
            moved_on(state, 0, x)
        finally:
            state.left = state.value * 2

    try:
        run()
    except ValueError:
        pass
    return state.left


CHANGING = [
    a_list_of_its_own,
    an_array_that_is_given,
    a_dictionary_that_is_given,
    an_object_that_is_given,
    an_outer_name,
    seen_in_the_end,
]


@pytest.mark.parametrize("f", CHANGING)
def test_what_recursion_changed_before_it_raised(f):
    agree(f, 1.3, 0.7)
    wg.testing.check_gradient(f, 1.3)
    assert wg.value_and_grad(f)(1.3)[0] == f(1.3)


def checked_first(state, i, x):
    if x < 0:
        raise ValueError("negative")
    if i < 3:
        state.value = state.value * x
        checked_first(state, i + 1, x)


def test_recursion_that_raises_nothing_once_it_has_changed_something():
    def f(x):
        state = State(x)
        try:
            checked_first(state, 0, x)
        except ValueError:
            return x * 3
        return state.value

    agree(f, 1.3, -0.4)


# --- recursion through contexts and classes -----------------------------------------------


def inside_a_context(x):
    trace = []

    @contextlib.contextmanager
    def level(n):
        trace.append(n * x)
        yield n
        trace.append(-n * x)

    def descend(n):
        if n == 0:
            return x
        with level(n) as k:
            found = descend(n - 1) * k + x
        return found

    return descend(3) + sum(t**2 for t in trace)


def inside_an_object(x):
    trace = []

    class Level:
        def __enter__(self):
            trace.append(x)
            return 2

        def __exit__(self, *error):
            trace.append(x * x)
            return False

    def descend(n):
        if n == 0:
            return x
        with Level() as k:
            found = descend(n - 1) * k + x
        return found

    return descend(3) + sum(t**2 for t in trace)


def through_a_wrapped_function(x):
    trace = [x]
    note = functools.partial(lambda power, n: trace.append(trace[-1] * n**power), 2)

    def descend(n):
        if n == 0:
            return x
        note(n)
        return descend(n - 1) + trace[-1]

    return descend(3) * trace[1]


@pytest.mark.parametrize("f", [inside_a_context, inside_an_object, through_a_wrapped_function])
def test_what_recursion_reaches_through_something_else(f):
    agree(f, 1.3, 0.7)
    wg.testing.check_gradient(f, 1.3)


# --- refusals that the program must not catch ---------------------------------------------


class Doubled:
    def __init__(self, value):
        self.value = value

    def double(self, fails):
        self.value = self.value * 2
        if fails:
            raise ValueError("too much")


def doubled_by_the_run(x, double, fails):
    doubled = Doubled(x)
    try:
        double(doubled, fails)
    except ValueError:
        pass
    return doubled.value * 3.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_function_of_general_source_changes_nothing_before_it_raises(mode):
    jacobian = wg.jacobian(doubled_by_the_run, mode=mode)
    assert jacobian(2.0, Doubled.double, True) == 6.0
    with pytest.raises(ValueError, match="changes an object that it is given"):
        alone(jacobian)(2.0, Doubled.double, True)
    assert alone(jacobian)(2.0, Doubled.__eq__, True) == 3.0


def test_handlers_let_refusals_pass():
    from wengert.runtime.refusals import coded, unless_refused
    from wengert.runtime.unchanged import applied

    doubled = Doubled(1.5)
    with pytest.raises(ValueError, match="too much") as own:
        applied(doubled.double, True)
    try:
        raise own.value
    except ValueError:
        with pytest.raises(ValueError, match="changes an object that it is given") as raised:
            unless_refused()
        assert raised.value.code == "WG101"
    try:
        raise coded(ValueError("no"), "WG101")
    except ValueError:
        with pytest.raises(ValueError, match="no"):
            unless_refused()
    try:
        raise KeyError("the program's own")
    except KeyError:
        unless_refused()


# --- what says more than its class ---------------------------------------------------------


class Failure(Exception):
    def __init__(self, residual):
        super().__init__("failed")
        self.residual = residual


def causes(x):
    try:
        try:
            raise Failure(3 * x)
        except Failure as error:
            raise Failure(x) from error
    except Failure as error:
        total, cause = 0.0, error
        while cause is not None:
            total += cause.residual
            cause = cause.__cause__
        return total * total


def cause_of_one_that_python_raised(x):
    try:
        try:
            1 / (x - x)
        except ZeroDivisionError as error:
            raise Failure(x) from error
    except Failure as error:
        return error.residual if isinstance(error.__cause__, ZeroDivisionError) else x * x


class Speed(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


def no_member(x):
    try:
        speed = Speed("other")
    except ValueError:
        speed = Speed.SLOW
    return x if speed is Speed.FAST else x * x


def flattened(x):
    def flat(value):
        try:
            items = iter(value)
        except TypeError:
            yield value
        else:
            for item in items:
                yield from flat(item)

    return sum(v * k for k, v in enumerate(flat([x, [2.0, (x * x, [2.0])], 3.0])))


def no_integers(x):
    try:
        count = math.factorial(2.5)
    except TypeError:
        count = math.gamma(3.5)
    try:
        return x * math.gcd(2.5, 1)
    except TypeError:
        return x * x * count


def no_attributes(x):
    total = x
    for container in ((x, 2.0), [x], {"k": x}):
        try:
            container.shape
        except AttributeError:
            total = total * x
    return total


def no_format(x):
    try:
        f"{x:zz}"
    except ValueError:
        return x * x
    return x


def names_what_is_missing(x):
    try:
        Failure(x).nope
    except AttributeError as error:
        return x if error.name == "nope" else x * x


def formatted_as_an_integer(x):
    return x * x * len(f"{min(1, 2 * x):d}")


@pytest.mark.parametrize(
    "program",
    [
        names_what_is_missing,
        formatted_as_an_integer,
        causes, cause_of_one_that_python_raised, no_member, flattened, no_integers, no_attributes, no_format,
    ],
)  # fmt: skip
def test_what_python_raises_is_raised(program):
    agree(program, 1.3)


def implied(x):
    try:
        try:
            1 / (x - x)
        except ZeroDivisionError:
            raise Failure(x)  # noqa: B904
    except Failure as error:
        return x if error.__context__ is not None else x * x


def asked_of_python(x):
    try:
        raise Failure(x)
    except Failure:
        return x if sys.exc_info()[0] is Failure else x * x


@pytest.mark.parametrize("program", [implied, asked_of_python])
def test_what_python_sets_where_it_raises_is_recorded(program):
    with pytest.raises(wg.WengertError, match="WG101") as caught:
        wg.grad(program, tier="static")(1.3)
    assert "exception" in str(caught.value)
    assert wg.grad(program)(1.3) == wg.grad(lambda x: x)(1.3)


# --- kept by what is left, and dataclasses ----------------------------------------------------------


@dataclasses.dataclass
class Diverged(Exception):
    at: float
    steps: int = 0


@dataclasses.dataclass
class Detailed(ValueError):
    point: list
    note: str = "none"
    more: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self.more["length"] = len(self.point)
        super().__init__(self.note)


def fields_of_an_exception(x):
    try:
        for k in range(5):
            x = x * x
            if x > 10:
                raise Diverged(x, steps=k)
    except Diverged as error:
        return error.at * error.steps + len(error.args)
    return x


def fields_made_by_its_own_code(x):
    def checked(y):
        if y > 1:
            raise Detailed([y, y * y], note="large")
        return y

    try:
        return checked(x)
    except ValueError as error:
        return error.point[1] * error.more["length"] + (str(error) == "large")


class Keeping:
    def __init__(self):
        self.errors, self.best = [], 0.0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is Diverged:
            self.best = max(self.best, error.at)
        elif error is not None:
            self.errors.append(error)
        return True


class KeepingInfo(Keeping):
    def __exit__(self, *info):
        if info[1] is not None:
            self.errors.append(info[1])
        return True


def kept_by_a_manager(x):
    total = 0.0
    for manager in (Keeping(), KeepingInfo()):
        for k in range(4):
            with manager:
                if k % 2:
                    raise ValueError(x * k)
                total += x**k
        total *= sum(error.args[0] for error in manager.errors)
    return total


def the_best_of_what_was_raised(x):
    manager = Keeping()
    for k in range(4):
        with manager:
            y = x
            for j in range(k + 1):
                y = y * y
                if y > 3:
                    raise Diverged(y, j)
    return manager.best * x


def kept_in_a_stack(x):
    manager, out = KeepingInfo(), []
    with contextlib.ExitStack() as stack:
        stack.enter_context(manager)
        stack.callback(out.append, x * x)
        raise ValueError(3 * x)
    return out[0] * manager.errors[0].args[0]


@pytest.mark.parametrize(
    "program",
    [
        fields_of_an_exception,
        fields_made_by_its_own_code,
        kept_by_a_manager,
        the_best_of_what_was_raised,
        kept_in_a_stack,
    ],
)
def test_what_an_exception_holds_is_read_from_where_it_is_kept(program):
    agree(program, 1.3)


def raises_in_both_arms(x):
    s = 0.4
    try:
        if x > 0.5:
            if s > x:
                raise TypeError(x)
            s += x
            raise KeyError("k")
    except ValueError:
        pass
    return s + 1.0


def raises_in_both_arms_of_a_loop(x):
    s, kept = 0.4, {}
    with contextlib.suppress(ValueError):
        while x > 0.5:
            if s > x:
                raise TypeError(x)
            for y in [0.3, x]:
                s += y * 0.3
                x += kept["k"]
    return s + 1.0


def reads_what_is_not_there(x):
    kept = {}
    if x > 0.5:
        kept["k"] = x
    kept["none"]
    return x + sum(kept.values())


@pytest.mark.parametrize(
    "f", [raises_in_both_arms, raises_in_both_arms_of_a_loop, reads_what_is_not_there]
)
def test_what_no_handler_catches_is_raised(f):
    for derivative in (wg.value_and_grad(f), wg.derivative(f)):
        with pytest.raises(KeyError, match=r"k|none"):
            derivative(0.8)


class Stop(Exception):
    pass


def reads_a_loop_twice_in_a_try(x):
    s, t = 0.4, x * 0.5
    seen, table = [0.3, x], {}

    def noted(k):
        seen.append(k)
        return s

    for _ in (v * x for v in seen[:3] if v > 0.2):
        try:
            s, t = t, seen[-1] * 0.6
            w = x
            while w < 3 and s > t:
                t += table["k"]
            table["k"] = s if t > 0.4 else t
        except Stop:
            for _ in range(1):
                t = noted(seen[0] + s)
            try:
                t -= x
            finally:
                s += x
        finally:
            try:
                t = x
            except Stop:
                t = s
        t = x
    return s + 2 * t + 0.5 * sum(seen) + sum(table.values())


def test_what_is_read_again_part_by_part_is_written_once():
    x = 0.8291
    value, slope = wg.value_and_grad(reads_a_loop_twice_in_a_try)(x)
    assert value == reads_a_loop_twice_in_a_try(x)
    f = reads_a_loop_twice_in_a_try
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-8)


def raises_in_finally_what_hides_another(x):
    s, t = 0.4, x
    seen, table = [0.3, x], {}
    try:
        seen.sort()
    except LookupError as e:
        s += e.args[0] if e.args and isinstance(e.args[0], float) else 0.1
    s += x
    try:
        t = s - t
    except LookupError:
        t = x
    else:
        with contextlib.suppress(ValueError):
            seen[99]
        s, t = t, t * x
    finally:
        s += x
        t += table["k"]


@pytest.mark.parametrize("differentiate", [wg.value_and_grad, wg.derivative])
def test_a_branch_that_only_raises(differentiate):
    with pytest.raises(KeyError, match="'k'"):
        differentiate(raises_in_finally_what_hides_another)(0.8)


# --- classes that cannot be had --------------------------------------------------------------


def names_what_is_not_there(x):
    total = 0.0
    for v in (x, -x, 2 * x):
        try:
            try:
                total += math.sqrt(v)
            except (np.linalg.linalg.LinAlgError, ValueError):
                total += 1.0
        except AttributeError:
            total += 3 * x
    return total


def test_the_classes_of_a_handler_are_asked_for_once_something_is_raised():
    def f(x):
        try:
            y = math.log(x)
        except np.linalg.linalg.LinAlgError:
            y = 0.0
        except ValueError:
            y = 3 * x
        return x * y

    slope = 1 + math.log(2)
    assert wg.gradient(f, 2.0) == pytest.approx((slope,))
    assert wg.pushforward(f, 2.0)[1](1.0) == pytest.approx(slope)
    with pytest.raises(AttributeError, match=r"module 'numpy.linalg' has no attribute 'linalg'"):
        wg.gradient(f, -2.0)
    agree(names_what_is_not_there, 2.0)
