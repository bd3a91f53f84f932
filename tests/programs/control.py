"""Flow of control: exceptions, contexts, generators, outer variables, patterns, many exits."""

# ruff: noqa: TRY301 (raising within `try` is what is tried out here)

import enum
import functools
import heapq
import itertools
import math
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import numpy as np

from .registry import add

# Exceptions


def guarded_logarithm(xs):
    total = 0.0
    for x in xs:
        try:
            total += math.log(x)
        except ValueError:
            total -= x * x
    return total


add(guarded_logarithm, ([1.5, -0.7, 2.0],), ([0.3],))


def guarded_ratio(x, y):
    try:
        ratio = x / (y - 1.0)
    except ZeroDivisionError:
        ratio = 5 * x
    return ratio * x


add(guarded_ratio, (1.5, 0.7), note="a division that works")


def ratios_of_counts(values, counts):
    means, skipped = [], 0
    for v, n in zip(values, counts):
        try:
            means.append(v / n)
        except ZeroDivisionError:
            skipped += 1
            means.append(v * 0.5)
    return sum(m * m for m in means) + skipped


add(ratios_of_counts, ([1.5, 0.7, 2.0], (2, 0, 3)), wrt=(0,))


def default_for_missing_keys(table, names):
    total = 1.0
    for k, name in enumerate(names):
        try:
            total *= table[name]
        except KeyError as error:
            total += len(error.args[0]) * table["default"]
        else:
            total += k
        finally:
            total *= 1.1
    return total


add(default_for_missing_keys, ({"a": 1.5, "bb": 0.7, "default": 0.3}, ("a", "ccc", "bb")), wrt=(0,))


def every_clause(x, kind):
    trail = [x]
    try:
        trail.append(x * 2)
        if kind == "value":
            raise ValueError("bad")
        if kind == "index":
            trail.append(trail[10])
        trail.append(x**2)
    except ValueError:
        trail.append(math.sin(x))
    except (IndexError, KeyError) as error:
        trail.append(x / len(type(error).__name__))
    else:
        trail.append(x**3)
    finally:
        trail[0] = 10 * x
    return sum(k * item for k, item in enumerate(trail, 1))


add(every_clause, (0.7, "none"), (0.7, "value"), (0.7, "index"), wrt=(0,))


class DivergedError(Exception):
    def __init__(self, best, steps):
        super().__init__(f"no root after {steps} steps")
        self.best = best
        self.steps = steps


def newton_root(f, slope, x, limit):
    for step in range(limit):
        value = f(x)
        if abs(value) < 1e-13:
            return x
        if abs(slope(x)) < 1e-3:
            raise DivergedError(x, step)
        x = x - value / slope(x)
    raise DivergedError(x, limit)


def root_or_bisection(a, start, limit):
    def f(x):
        return x**3 - a * x - 1.0

    try:
        return newton_root(f, lambda x: 3 * x * x - a, start, limit)
    except DivergedError as error:
        low, high = 0.0, 4.0
        for _ in range(error.steps + 3):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if f(middle) < 0 else (low, middle)
        return 0.5 * (low + high) * a + 0.1 * error.best


add(root_or_bisection, (1.3, 1.5, 30), (1.3, 1.0, 2), wrt=(0,), smooth=False)


class ModelError(Exception):
    pass


class OutOfRangeError(ModelError):
    pass


def checked_density(temperature):
    if temperature > 2.0:
        raise OutOfRangeError("too hot", temperature)
    if temperature < -1.0:
        raise ModelError("too cold")
    return 1.0 / (1.5 + temperature)


def layer(temperature):
    try:
        return checked_density(temperature) * 2.0
    except OutOfRangeError as error:
        raise ModelError("layer failed") from error


def column(temperatures):
    total = 0.0
    for t in temperatures:
        try:
            total += layer(t)
        except ModelError as error:
            cause = error.__cause__
            total += 0.1 * t if cause is None else 0.01 * cause.args[1] ** 2
    return total


add(column, ([0.5, 2.7, -1.4, 1.1],), note="an exception that was raised from another one")


def reraised(x):
    log = []

    def inner(y):
        try:
            if y > 1:
                raise ValueError(y)
            return y * 3
        except ValueError:
            log.append(y)
            raise
        finally:
            log.append(2 * y)

    def outer(y):
        try:
            return inner(y)
        except ValueError as error:
            return error.args[0] ** 2

    return outer(x) + outer(x + 1) + sum(log)


add(reraised, (0.6,))


def step_halving(rate, x):
    """Retry with half the step until the domain is kept."""
    step, tries = 1.0, 0
    while True:
        try:
            candidate = x - step * rate * (1 + 1 / x)
            value = math.sqrt(candidate) + math.log(candidate)
        except ValueError:
            step /= 2
            tries += 1
            if tries > 5:
                raise
            continue
        break
    return value + step * tries


add(step_halving, (1.9, 0.8), (0.1, 0.8))


def finally_in_loops(xs):
    total, cleaned = 0.0, 0.0
    for x in xs:
        try:
            if x < 0:
                continue
            if x > 3:
                break
            total += x * x
        finally:
            cleaned += x
    else:
        total += 100.0
    return total * cleaned


add(finally_in_loops, ([1.0, -2.0, 3.5, 7.0],), ([1.0, 2.0],))


def returns_from_try(x, stop):
    history = []

    def attempt():
        for k in range(4):
            try:
                if k == stop:
                    return x**k * 2
                history.append(x * k)
            finally:
                history.append(1.0)
        return x

    value = attempt()
    return value + sum(h * (k + 1) for k, h in enumerate(history))


add(returns_from_try, (1.3, 2), (1.3, 9), wrt=(0,))


class FoundError(Exception):
    pass


def leave_nested_loops(matrix, limit):
    total = 0.0
    try:
        for row in matrix:
            for item in row:
                total += item
                if total > limit:
                    raise FoundError
        total *= 2
    except FoundError:
        total -= limit * item
    return total


add(leave_nested_loops, ([[1.0, 2.0], [3.0, 4.0]], 4.5), ([[1.0, 2.0], [3.0, 4.0]], 20.0))


def assertions(x):
    try:
        assert x > 1, "small"
        y = x * 2
    except AssertionError as error:
        y = x * len(str(error))
    with suppress(ZeroDivisionError, OverflowError):
        y += 1 / (x - x + 0)
        y += 1000.0
    return y * x


add(assertions, (1.5,), (0.5,), wrt=(0,))


def partial_mutation_before_failure(values):
    """What was changed before the exception stays changed."""
    state = np.zeros(3)

    def update(k, v):
        state[k] += v
        state[k + 1] -= math.sqrt(v)

    failures = 0
    for k, v in enumerate(values):
        try:
            update(k, v)
        except (ValueError, IndexError):
            failures += 1
            state *= 0.5
    return np.sum(state**2) + failures


add(partial_mutation_before_failure, ([1.5, -0.7, 2.0],))


# Contexts


class Scale:
    """A stack of factors; the innermost ones hold."""

    def __init__(self):
        self.factors = [1.0]

    def at(self, factor):
        self.pending = factor
        return self

    def __enter__(self):
        self.factors.append(self.factors[-1] * self.pending)
        return self.factors[-1]

    def __exit__(self, kind, error, trace):
        self.factors.pop()
        return kind is ValueError


def scaled_contexts(x, y):
    scale = Scale()
    total = 0.0
    with scale.at(x) as outer:
        total += outer * y
        with scale.at(y) as inner:
            total += inner**2
            if inner > 1:
                raise ValueError
            total += 5 * x
        total += scale.factors[-1]
    return total * len(scale.factors) + scale.factors[0]


add(scaled_contexts, (1.5, 0.5), (1.5, 0.9), note="__exit__ swallows the error")


@contextmanager
def temporarily(params, **changes):
    before = {name: params[name] for name in changes}
    params.update(changes)
    try:
        yield params
    finally:
        params.update(before)


def sensitivity(params, shift):
    def model():
        return params["a"] * math.exp(-params["b"])

    base = model()
    with temporarily(params, b=params["b"] + shift) as changed:
        moved = model() * changed["a"]
    with suppress(KeyError), temporarily(params, a=3.0):
        moved += params["a"] * params["missing"]
    return (moved - base) ** 2 + params["a"]


add(sensitivity, ({"a": 1.5, "b": 0.7}, 0.2))


def return_inside_with(x, limit):
    entered = []

    @contextmanager
    def traced(value):
        entered.append(value)
        yield value * 2
        entered.append(-value)

    def search():
        for k in range(5):
            with traced(x + k) as doubled:
                if doubled > limit:
                    return doubled * x
        return x

    found = search()
    return found + sum(entered) + len(entered)


add(return_inside_with, (0.7, 4.0), (0.7, 50.0))


def stacked_contexts(xs):
    closed = []
    with ExitStack() as stack:
        for x in xs:
            stack.callback(closed.append, x * x)
        total = len(closed)
    with np.errstate(divide="ignore"):
        weights = np.array([1.0, 2.0, 3.0]) / 2
    return total + sum(c * w for c, w in zip(closed, weights))


add(stacked_contexts, ([0.5, 1.2, -0.3],))


# Generators and iterators


def decaying(start, rate):
    value = start
    while True:
        yield value
        value *= rate


def sum_of_decay(start, rate):
    total = 0.0
    for k, value in enumerate(decaying(start, rate)):
        if value < 0.2:
            break
        total += value / (k + 1)
    return total


add(sum_of_decay, (1.5, 0.6))


def differences(values):
    previous = None
    for value in values:
        if previous is not None:
            yield value - previous
        previous = value


def squares(values):
    for value in values:
        yield value * value


def generator_pipeline(xs):
    total = sum(squares(differences(xs)))
    return total + max(x * 2 for x in squares(xs) if x > 0.1) + next(differences(xs))


add(generator_pipeline, ([0.5, 1.2, -0.3, 0.8],), (np.array([1.0, 3.0]),))


def leaves(tree):
    if isinstance(tree, (list, tuple)):
        for branch in tree:
            yield from leaves(branch)
    else:
        yield tree


def flattened(tree, weight):
    return sum(weight**k * leaf for k, leaf in enumerate(leaves(tree)))


add(flattened, ([1.5, [0.7, (2.0, 0.3)], [[1.1]]], 0.8))


def collocation_points(n):
    for k in range(n):
        x = math.cos(math.pi * (2 * k + 1) / (2 * n))
        yield x, math.sqrt(1 - x * x)


def quadrature(a, b):
    """Gauss and Chebyshev, points made by a generator."""
    total, count = 0.0, 0
    for x, weight in collocation_points(4):
        t = 0.5 * (a + b) + 0.5 * (b - a) * x
        total += weight * math.exp(-t * t)
        count += 1
    return total * (b - a) * math.pi / (2 * count)


add(quadrature, (0.2, 1.7))


def trajectory(x, v, dt):
    while x > 0:
        yield x, v
        v -= 9.81 * dt
        x += v * dt
    return x * v


def bounces(x, v, dt):
    impact = yield from trajectory(x, v, dt)
    yield 0.0, -0.8 * impact


def flight(x, v):
    area = 0.0
    for height, speed in bounces(x, v, 0.1):
        area += height + 0.1 * speed**2
    return area


add(flight, (1.0, 2.0), note="a generator that returns a value")


def halley_steps(a):
    x = a
    while True:
        y = yield x
        if y is not None:
            x = y
        x = x * (x * x + 3 * a) / (3 * x * x + a)


def driven_generator(a):
    steps = halley_steps(a)
    first = next(steps)
    second = next(steps)
    third = steps.send(second * 1.5)
    steps.close()
    return first * second + third + next(steps, 7.0)


add(driven_generator, (2.3,))


class Event(enum.Enum):
    ARRIVE = enum.auto()
    LEAVE = enum.auto()


def one_desk(rate, service):
    events = []
    t = 0.0
    for gap in (0.41, 0.13, 0.77, 0.25, 0.61, 0.09):
        t += gap / rate
        heapq.heappush(events, (t, len(events), Event.ARRIVE))
    busy, queue, area, last = False, [], 0.0, 0.0
    while events:
        now, number, event = heapq.heappop(events)
        area += (now - last) * (len(queue) + busy)
        last = now
        if event is Event.ARRIVE and busy:
            queue.append(now)
        elif event is Event.ARRIVE or queue:
            busy = True
            begun = queue.pop(0) if event is Event.LEAVE else now
            area += 0.1 * (now - begun) ** 2
            heapq.heappush(events, (now + service, number + 10, Event.LEAVE))
        else:
            busy = False
    return area / last


add(one_desk, (1.2, 0.8), (0.9, 0.3))


def round_robin(rates, start):
    def process(rate):
        value = start
        for _ in range(int(3 * rate)):
            value += rate * math.sin(value)
            yield value

    running = deque(process(r) for r in rates)
    total, turn = 0.0, 0
    while running:
        current = running.popleft()
        try:
            total += next(current) / (1 + turn)
        except StopIteration:
            continue
        running.append(current)
        turn += 1
    return total


add(round_robin, ([0.5, 1.2, 0.9], 0.4))


def lazy_evaluation(x):
    evaluated = []

    def noted(value):
        evaluated.append(value)
        return value

    candidates = (noted(x * k) for k in itertools.count(1))
    first_large = next(c for c in candidates if c > 2)
    next(candidates)
    some = any(noted(x - k) < 0 for k in range(5))
    return first_large * len(evaluated) + sum(evaluated) + some


add(lazy_evaluation, (0.7,), note="what a generator has not been asked for has not happened")


def iterator_tools(xs, ys):
    total = 0.0
    for a, b in itertools.pairwise(xs):
        total += a * b
    for k, item in enumerate(itertools.chain(xs, ys, [1.0])):
        total += item / (k + 1)
    for a, b in itertools.product(xs, ys):
        total += math.sin(a * b)
    for a, b in itertools.zip_longest(xs, ys, fillvalue=0.5):
        total += a**2 * b
    for a, b, c in itertools.combinations(xs, 3):
        total += a * b * c
    for x in itertools.islice(itertools.cycle(xs), 1, 7, 2):
        total += x
    return total


add(iterator_tools, ([0.5, 1.2, -0.3, 0.8], [2.0, 0.7]))


def more_iterator_tools(xs):
    sums = list(itertools.accumulate(xs))
    products = list(itertools.accumulate(xs, lambda a, b: a * b + 1, initial=0.5))
    low = list(itertools.takewhile(lambda x: x < 1, xs))
    rest = list(itertools.dropwhile(lambda x: x < 1, xs))
    chosen = list(itertools.compress(xs, [1, 0, 1, 1]))
    powers = list(itertools.starmap(pow, zip(chosen, itertools.count(1))))
    a, b = itertools.tee(x * 2 for x in xs)
    next(b)
    steps = sum(q - p for p, q in zip(a, b))
    groups = [sum(g) * k for k, g in itertools.groupby(xs, key=lambda x: int(x > 1))]
    flat = itertools.chain.from_iterable([sums, products[2:], itertools.repeat(xs[0], 2)])
    return sum(flat) * sum(low) + sum(rest) * sum(powers) + steps + math.prod(g + 1 for g in groups)


add(more_iterator_tools, ([0.5, 0.8, 1.7, 0.3],))


def polled_sensor(x):
    readings = [x, x * 1.5, -1.0, x * 9]

    def read():
        return readings.pop(0)

    total = 0.0
    for value in iter(read, -1.0):
        total += value**2
    return total + readings[0]


add(polled_sensor, (0.7,))


# Variables of outer functions and modules


def make_integrator(value):
    steps = 0

    def advance(rate, dt=0.1):
        nonlocal value, steps
        value += rate * dt
        steps += 1
        return value

    def read():
        return value * steps

    return advance, read


def closures_with_state(x, rate):
    advance, read = make_integrator(x)
    other, read_other = make_integrator(2 * x)
    for k in range(4):
        advance(rate * k)
        if k % 2:
            other(advance(0.0), dt=0.5)
    return read() + read_other() ** 2


add(closures_with_state, (0.7, 1.5))


def counting_quadrature(a, b, tolerance):
    """Adaptive Simpson; the calls are counted and the total is kept outside."""
    calls, total = 0, 0.0

    def f(x):
        nonlocal calls
        calls += 1
        return math.exp(-x) * math.sin(3 * x)

    def refine(left, fl, middle, fm, right, fr):
        nonlocal total
        h = (right - left) / 2
        ql, qr = (left + middle) / 2, (middle + right) / 2
        fql, fqr = f(ql), f(qr)
        coarse = h / 3 * (fl + 4 * fm + fr)
        fine = h / 6 * (fl + 4 * fql + 2 * fm + 4 * fqr + fr)
        if abs(fine - coarse) < 15 * tolerance * (right - left):
            total += fine + (fine - coarse) / 15
        else:
            refine(left, fl, ql, fql, middle, fm)
            refine(middle, fm, qr, fqr, right, fr)

    middle = (a + b) / 2
    refine(a, f(a), middle, f(middle), b, f(b))
    return total + 1e-3 * calls


add(counting_quadrature, (0.2, 2.5, 1e-4), (0.2, 0.4, 1e-2), wrt=(0, 1))


GAIN = 1.0
CALLS = 0


def set_gain(value):
    global GAIN
    GAIN = value


def amplified(x):
    global CALLS
    CALLS += 1
    return GAIN * x


def module_state(x, gain):
    global CALLS
    CALLS = 0
    set_gain(gain)
    first = amplified(x)
    set_gain(GAIN * 2 + first)
    second = amplified(first)
    result = second * CALLS
    set_gain(1.0)
    return result


add(module_state, (0.7, 1.5))


def counted(function):
    @functools.wraps(function)
    def wrapper(*args):
        wrapper.calls += 1
        return function(*args)

    wrapper.calls = 0
    return wrapper


def secant_with_counted_calls(a, b):
    @counted
    def f(x):
        return x**3 - a * x - b

    x0, x1 = 1.0, 2.5
    f0, f1 = f(x0), f(x1)
    while f.calls < 7 and abs(f1) > 1e-3:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
    return x1 + 0.1 * f.calls


add(secant_with_counted_calls, (1.3, 2.0))


def stateful_map(xs, rate):
    level = 0.0

    def smooth(x):
        nonlocal level
        level += rate * (x - level)
        return level

    smoothed = list(map(smooth, xs))
    positive = list(filter(lambda v: v > 0.1, map(smooth, reversed(xs))))
    total = functools.reduce(lambda a, b: a * 0.5 + b, smoothed, level)
    return total + sum(positive) + len(positive) * level


add(stateful_map, ([0.5, 1.2, -0.3, 0.8], 0.4))


def functions_share_a_variable(x):
    stack = []
    best = x

    def push(v):
        nonlocal best
        stack.append(v)
        best = max(best, v)

    def pop():
        nonlocal best
        v = stack.pop()
        best -= 0.1 * v
        return v

    push(x * 2)
    push(x + 0.5)
    scale = lambda: best  # noqa: E731
    total = pop() * scale()
    push(total)
    return scale() * pop() + len(stack) * stack[0]


add(functions_share_a_variable, (0.7,))


# Names and exits


def conditionally_defined(x, n):
    for k in range(n):
        if k == 1:
            late = x * 3
        if k > 1:
            late *= late
            early = late + x
    if n > 2:
        del late
        late = early
    try:
        return late + x
    except UnboundLocalError:
        return x * 7


add(conditionally_defined, (0.7, 4), (0.7, 2), (0.7, 0), wrt=(0,))


def several_exits(x, budget):
    spent = 0.0
    while True:
        spent += x
        if spent > budget:
            return spent - budget
        x *= 1.3
        if x > 4:
            break
        for k in range(3):
            if x * k > 3.5:
                spent += k
                break
        else:
            continue
        if spent > 6:
            return spent * x
    return x


add(several_exits, (1.1, 5.0), (1.1, 50.0), (3.5, 9.0))


def prime_factor_weights(n, w):
    weights = []
    for candidate in range(2, n + 1):
        for prime, _ in weights:
            if candidate % prime == 0:
                break
        else:
            weights.append((candidate, w ** (1 / candidate)))
    return math.prod(weight for _, weight in weights) + len(weights)


add(prime_factor_weights, (12, 1.7), wrt=(1,))


def walrus(xs, limit):
    total = 0.0
    stack = list(xs)
    while stack and (x := stack.pop()) < limit:
        if (y := x * x) > 1 and not (z := y - 1) > 5:
            total += y * z
    kept = [v for item in xs if (v := item * 0.5) > 0.2]
    return total * x + sum(kept) + v


add(walrus, ([3.0, 1.5, 0.3, 1.2], 2.5))


# Patterns and trees


def evaluate(tree, x):
    match tree:
        case float() | int():
            return tree
        case "x":
            return x
        case ("+", left, right):
            return evaluate(left, x) + evaluate(right, x)
        case ("*", *factors):
            product = 1.0
            for factor in factors:
                product *= evaluate(factor, x)
            return product
        case (("sin" | "cos") as name, inner):
            return getattr(math, name)(evaluate(inner, x))
        case ["^", base, int(n)] if n >= 0:
            return evaluate(base, x) ** n
        case {"if": condition, "then": a, **rest}:
            return evaluate(a if evaluate(condition, x) > 0 else rest["else"], x)
    raise ValueError(tree)


def expression_tree(x):
    tree = ("+", ("*", 2.0, "x", ("sin", "x")), ["^", ("+", "x", 1), 3])
    chosen = {"if": ("+", "x", -1.0), "then": "x", "else": ("cos", ("*", 3, "x"))}
    return evaluate(tree, x) * evaluate(chosen, x)


add(expression_tree, (0.7,), (1.4,))


@dataclass
class Number:
    value: float


@dataclass
class Sum:
    left: object
    right: object


@dataclass
class Product:
    left: object
    right: object


class Name:
    __match_args__ = ("label",)

    def __init__(self, label):
        self.label = label


def derived(tree, label):
    match tree:
        case Number():
            return Number(0.0)
        case Name(l):
            return Number(1.0 if l == label else 0.0)
        case Sum(a, b):
            return Sum(derived(a, label), derived(b, label))
        case Product(left=a, right=b):
            return Sum(Product(derived(a, label), b), Product(a, derived(b, label)))


def valued(tree, table):
    match tree:
        case Number(value=v):
            return v
        case Name(label):
            return table[label]
        case Sum(left, right):
            return valued(left, table) + valued(right, table)
        case Product(Number(0.0), _) | Product(_, Number(0.0)):
            return 0.0
        case Product(left, right):
            return valued(left, table) * valued(right, table)


def symbolic_derivative(x, y):
    tree = Product(Sum(Name("x"), Number(y)), Product(Name("x"), Name("y")))
    table = {"x": x, "y": y}
    return valued(tree, table) + valued(derived(derived(tree, "x"), "x"), table)


add(symbolic_derivative, (0.7, 1.2))


def tree_of_dicts(tree):
    def total(node, depth):
        own = node["value"] * 0.9**depth
        for child in node.get("children", []):
            own += total(child, depth + 1)
        node["total"] = own
        return own

    total(tree, 0)
    heaviest = max(tree["children"], key=lambda node: node["total"])
    return tree["total"] * heaviest["total"] + len(tree)


add(
    tree_of_dicts,
    ({"value": 1.5, "children": [{"value": 0.7}, {"value": 2.0, "children": [{"value": 0.3}]}]},),
    note="the tree is left with totals in it",
)


def even_terms(x, n):
    return 1.0 if n == 0 else odd_terms(x, n - 1) * x + n


def odd_terms(x, n):
    if n == 0:
        return x
    return even_terms(x, n - 1) - 0.5 * x


def mutual_recursion(x, n):
    return even_terms(x, n)


add(mutual_recursion, (0.7, 5), (0.7, 0), wrt=(0,))


def tiny_machine(x, y):
    """A register machine: instructions are tuples, jumps change the counter."""
    program = [
        ("set", "n", 3),
        ("mul", "a", "b"),
        ("add", "b", "a"),
        ("sub", "n", 1),
        ("jump", "n", 1),
        ("halt", "a", None),
    ]
    registers = {"a": x, "b": y, "n": 0}
    counter = 0
    while True:
        match program[counter]:
            case ("set", name, value):
                registers[name] = value
            case ("add", name, str(other)):
                registers[name] += registers[other]
            case ("mul", name, other):
                registers[name] *= registers[other]
            case ("sub", name, int(amount)):
                registers[name] -= amount
            case ("jump", name, target):
                if registers[name] > 0:
                    counter = target
                    continue
            case ("halt", name, _):
                return registers[name]
        counter += 1


add(tiny_machine, (0.7, 1.2))


def fallback_models(x, models):
    """The first model that works wins; the failures are charged."""
    charge = 0.0
    for name, fraction in models:
        try:
            match name:
                case "log":
                    value = math.log(x - fraction)
                case "root":
                    value = math.sqrt(x - fraction)
                case _:
                    raise NotImplementedError(name)
            break
        except NotImplementedError:
            charge += 1.0
        except ValueError:
            charge += fraction * x
    else:
        value = -x
    return value * (1 + charge)


add(
    fallback_models,
    (1.5, [("log", 2.0), ("power", 0.1), ("root", 0.4)]),
    (1.5, [("log", 2.0), ("root", 1.9)]),
)


class Washer:
    """A machine whose states are methods: which one is next, their values decide."""

    def __init__(self, rate):
        self.state, self.rate, self.level, self.log = "idle", rate, 0.0, []

    def on_idle(self, event):
        return "fill" if event == "start" else None

    def on_fill(self, event):
        self.level += self.rate
        return "drain" if self.level > 1.0 else None

    def on_drain(self, event):
        self.level *= 0.5
        return "idle" if event == "stop" else None

    def send(self, event):
        new = getattr(self, f"on_{self.state!s:.5}")(event)
        if new is not None and new != self.state:
            self.log.append((self.state, new, self.level))
            self.state = new


def states_by_name(rate):
    washer = Washer(rate)
    for event in ("start", "tick", "tick", "tick", "tick", "stop", "start", "tick"):
        washer.send(event)
    return washer.level + sum(level * len(old) for old, _, level in washer.log)


add(states_by_name, (0.4,), (0.55,))


def managers_of_generators_in_a_stack(x, y):
    log = []

    @contextmanager
    def logged(value):
        log.append(value)
        try:
            yield value * 2
        finally:
            log.append(value**2 + len(log))

    with ExitStack() as stack:
        first = stack.enter_context(logged(x))
        both = [stack.enter_context(logged(value)) for value in (first * y, y)]
        total = sum(both) * first
    return total + sum(value * k for k, value in enumerate(log))


add(managers_of_generators_in_a_stack, (1.5, 0.5))
