"""Programs of which only a run decides which object is which: values, derivatives, and the text of a run."""

# programs under test are written as users write them
# ruff: noqa: NPY002, TRY301

from __future__ import annotations

import contextlib
import copy
import heapq
import math
import random

import numpy as np
import oracle
import pytest
import trees
from programs.control import round_robin
from programs.objects import Simulator, machine_shop
from scipy import linalg

import wengert as wg
from wengert.errors import UnsupportedSyntax


def written_out(function, argnums, args):
    """The gradient of a function by its run for these arguments, written out."""
    special = wg.grad(function, argnums, tier="recorded").specialize(*copy.deepcopy(args))
    return special(*copy.deepcopy(args))


def tries_smaller_steps(x):
    """What raises is caught, and tried again with other objects."""
    attempts, step = [], [1.0]
    while True:
        attempts.append(step)
        try:
            value = math.log(x - step[0])
        except ValueError as error:
            step = [step[0] / (2 + len(str(error)) * 0)]
            continue
        break
    attempts[0][0] *= x
    return value * len(attempts) + sum(each[0] for each in attempts)


PROGRAMS = [
    (machine_shop, (1.1, 0.7, 0.21)),
    (round_robin, ([0.5, 1.2, 0.9], 0.4)),
    (tries_smaller_steps, (0.3,)),
]


def moved(args, k, by):
    """Arguments of which one number is another."""
    args = copy.deepcopy(list(args))
    if isinstance(args[0], list) and k < len(args[0]):
        args[0][k] += by
    else:
        args[k - (len(args[0]) - 1 if isinstance(args[0], list) else 0)] += by
    return args


def differenced(function, args, count):
    h = 1e-6
    return [
        (function(*moved(args, k, h)) - function(*moved(args, k, -h))) / (2 * h)
        for k in range(count)
    ]


@pytest.mark.parametrize(("program", "args"), PROGRAMS)
def test_what_kinds_and_counts_leave_open_the_run_decides(program, args):
    flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
    slopes = differenced(program, args, len(flat))
    found = wg.gradient(program, *copy.deepcopy(args))
    flat_found = [x for each in found for x in (each if isinstance(each, list) else [each])]
    np.testing.assert_allclose(flat_found, slopes, rtol=1e-6, atol=1e-8)
    value, back = wg.pullback(program, *copy.deepcopy(args))
    assert value == program(*copy.deepcopy(args))
    trees.assert_close(
        list(back(2.0)), [trees.map_leaves(lambda x: 2 * x, each) for each in found], rel=1e-12
    )


def test_another_call_may_go_another_way():
    gradient = wg.grad(machine_shop, (0, 1, 2))
    for args in ((1.1, 0.7, 0.21), (0.8, 0.9, 0.13), (1.1, 0.7, 0.37), (20.0, 1.0, 0.1)):
        np.testing.assert_allclose(
            gradient(*args), differenced(machine_shop, args, 3), rtol=1e-6, atol=1e-8
        )


def test_second_derivatives():
    h = 1e-5
    first = wg.grad(machine_shop)
    bend = (first(1.1 + h, 0.7, 0.21) - first(1.1 - h, 0.7, 0.21)) / (2 * h)
    assert wg.hvp(machine_shop)(1.1, 0.7, 0.21, 1.0) == pytest.approx(bend, rel=1e-6)
    assert wg.hessian(machine_shop)(1.1, 0.7, 0.21) == pytest.approx(bend, rel=1e-6)


def test_what_was_specialised_checks_that_a_call_goes_the_same_way():
    wg.grad(machine_shop)(1.1, 0.7, 0.21)
    special = wg.grad(machine_shop).specialize(1.1, 0.7, 0.21)
    assert special(1.1, 0.7, 0.21) == wg.grad(machine_shop)(1.1, 0.7, 0.21)
    assert special(1.1001, 0.7, 0.21) == wg.grad(machine_shop)(1.1001, 0.7, 0.21)
    with pytest.raises(ValueError, match="went another way here"):
        special(1.1, 0.7, 0.37)


def test_whole_numbers_that_are_given_keep_their_derivative():
    def program(count, x):
        events = Simulator()
        made = [0.0]

        def finish():
            made[0] += (count * x) ** 2 + count
            if events.count < count:
                events.schedule(x, finish)

        events.schedule(x, finish)
        events.run(until=9.0)
        return made[0]

    found = wg.gradient(program, 3, 1.5)
    assert found == pytest.approx((3 * (2 * 3 * 1.5**2 + 1), 3 * 2 * 9 * 1.5))


# --- the values of a run are NumPy's where the program's are ------------------------------


def chosen_by_a_heap(f):
    """A program that only its run decides: a heap orders two functions by a number."""

    def chosen(x, a):
        heap = []
        for k in range(2):
            heapq.heappush(heap, (a[k] * x, k, (lambda v: v * x) if k else (lambda v: v + x)))
        return heapq.heappop(heap)[2](f(x, a))

    chosen.__name__ = f.__name__
    return chosen


@chosen_by_a_heap
def inverted(x, a):
    return x * 2 if ~(a[0] > 5.0) else x * 5


@chosen_by_a_heap
def of_the_type_of_whole_numbers(x, a):
    return x * 2 if type(np.argmax(a)) is int else x * 5


@chosen_by_a_heap
def with_a_dtype(x, a):
    return x * 2 if hasattr(np.argmax(a), "dtype") else x * 5


@chosen_by_a_heap
def an_instance_of_bool(x, a):
    flag = a[0] > 1.0
    return x * 2 if isinstance(flag, bool) else x * 5 if flag else x * 7


@chosen_by_a_heap
def counted_with(x, a):
    k = np.argmax(a) + 3
    return x ** (k // 2) + np.sum(a[a > 0.7]) * x * len(a[a > 0.7])


@chosen_by_a_heap
def written_through_a_view_in_a_tuple(x, a):
    kept = (a.copy(), 1)
    if x > 0:
        row = kept[0][1:]
        row[0] = 9.0 * x
    return x * 3 if kept[0][1] > 5 else x * 7


@pytest.mark.parametrize(
    "program",
    [
        inverted,
        of_the_type_of_whole_numbers,
        with_a_dtype,
        an_instance_of_bool,
        counted_with,
        written_through_a_view_in_a_tuple,
    ],
)
def test_numbers_of_numpy_stay_numbers_of_numpy(program):
    a, h = np.array([1.4, 0.6, 0.9]), 1e-6
    value, slope = wg.value_and_grad(program)(1.3, a.copy())
    assert value == pytest.approx(program(1.3, a.copy()), rel=1e-12)
    differenced = (program(1.3 + h, a.copy()) - program(1.3 - h, a.copy())) / (2 * h)
    assert slope == pytest.approx(differenced, rel=1e-6)


def test_a_heap_needs_an_order_of_the_items_that_differ_first_only():
    def program(delays, gain):
        heap, log = [], []
        for name, delay in enumerate(delays):
            heapq.heappush(heap, (delay * gain, name, lambda v, d=delay: v * d + gain))
        value = 1.0
        while heap:
            when, _, act = heapq.heappop(heap)
            value = act(value)
            log.append(when)
        return value * log[-1]

    found = wg.gradient(program, [0.7, 0.4, 0.9, 0.4], 1.3)
    slopes = differenced(program, ([0.7, 0.4, 0.9, 0.4], 1.3), 5)
    # differences move equal delays apart: their order, and with it the value, is another then
    np.testing.assert_allclose([*found[0], found[1]][::2], slopes[::2], rtol=1e-6)


def test_events_at_the_same_time_with_the_same_number_have_no_order():
    def program(delay):
        heap = []
        for _ in range(2):
            heapq.heappush(heap, (delay, 0, lambda v: v * delay))
        return heap[0][2](2.0)

    with pytest.raises(TypeError, match="not supported between instances of 'function'"):
        wg.grad(program)(0.5)


DELAYS = [0.7, 0.4, 0.9]
GAINS = np.array([1.5, 0.5])


def test_globals_decide_as_arguments_do():
    def program(gain):
        heap = []
        for name, delay in enumerate(DELAYS):
            heapq.heappush(heap, (delay * gain, name, lambda v, d=delay: v * d + gain * GAINS[0]))
        value, count = 1.0, 0
        while heap and heap[0][0] < GAINS[0]:
            value, count = heapq.heappop(heap)[2](value), count + 1
        return value * count

    (slope,) = differenced(program, (1.3,), 1)
    assert wg.grad(program)(1.3) == pytest.approx(slope, rel=1e-6)


# --- handlers in loops --------------------------------------------------------------------


def goes_on_at_once(x):
    t = x
    for _ in range(2):
        try:
            t = t * x
            if t > 0.0:
                raise ValueError("h")
        except ValueError:
            continue
    return t


def goes_on_after_its_handler(x):
    t = x
    for _ in range(3):
        try:
            t = t * x
            raise ValueError("h")
        except ValueError:
            t = t + 1.0
    return t


def goes_on_from_an_inner_loop(x):
    t = x
    for _ in range(3):
        try:
            for k in range(3):
                t = t * x
                if k == 1:
                    raise ValueError("h")
        except ValueError:
            continue
        t = t + 100
    return t


def stops_in_its_handler(x):
    t = x
    for attempt in range(3):
        try:
            t = t * x
            if attempt == 1:
                raise ValueError("h")
        except ValueError:
            break
    else:
        t = t + 5
    return t


def goes_on_in_the_end(x):
    t = x
    for attempt in range(3):
        try:
            t = t * x
            if attempt == 1:
                continue
            t = t + x
        finally:
            t = t * 2
    return t


def goes_on_in_a_while(x):
    t = x
    k = 0
    while k < 3:
        k += 1
        try:
            t = t * x
            raise ValueError("h")
        except ValueError:
            if k == 2:
                continue
            t = t + 1
        t = t * 3
    return t


HANDLING = [
    goes_on_at_once,
    goes_on_after_its_handler,
    goes_on_from_an_inner_loop,
    stops_in_its_handler,
    goes_on_in_the_end,
    goes_on_in_a_while,
]


@pytest.mark.parametrize("f", HANDLING)
def test_a_handler_goes_on_with_the_loop_that_it_stands_in(f):
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert written_out(f, (0,), (1.3,)) == pytest.approx((expected,), rel=1e-8)
    assert wg.grad(f)(1.3) == pytest.approx(expected, rel=1e-8)


# --- each call has its own run -------------------------------------------------------------------


def spent_by_name(amounts, name):
    """A heap decides which of several functions is called: only the run tells."""
    heap = []
    for k, amount in enumerate(amounts):
        heapq.heappush(heap, (amount, k, (lambda v: v * 1.0) if k == 0 else (lambda v: 2.0 * v)))
    amount, _, spend = heapq.heappop(heap)
    spent = spend(amount)
    return (spent**2 if name == "square" else spent) + sum(each[0] for each in heap)


def test_lists_of_other_lengths_and_other_text_are_other_calls():
    gradient = wg.grad(spent_by_name)
    for amounts in ([1.5, 0.7, 2.0], [0.4, 0.7], [1.5, 0.7, 2.0, 0.3], [0.9, 0.8, 0.1]):
        for name in ("square", "plain"):
            k = amounts.index(min(amounts))
            expected = [1.0] * len(amounts)
            rate = 1.0 if k == 0 else 2.0
            expected[k] = rate if name == "plain" else 2 * amounts[k] * rate**2
            assert gradient(amounts, name) == pytest.approx(expected, rel=1e-12)


def test_what_is_kept_is_for_its_own_run():
    gradient = wg.grad(machine_shop)
    gradient(1.1, 0.7, 0.21)
    other = gradient(1.1, 0.7, 0.37)
    special = gradient.specialize(1.1, 0.7, 0.21)
    assert special(1.1, 0.7, 0.21) == gradient(1.1, 0.7, 0.21)
    y, push = wg.pushforward(machine_shop, 1.1, 0.7, 0.37)
    assert (y, push(1.0, None, None)) == (machine_shop(1.1, 0.7, 0.37), pytest.approx(other))
    wg.pushforward(machine_shop, 1.1, 0.7, 0.21)[1](1.0, 0.0, 0.0)
    assert [push(1.0, 0.0, 0.0), push(2.0, 0.0, 0.0)] == pytest.approx([other, 2 * other])


def raising_by_name(amounts, name):
    total = spent_by_name(amounts, name)
    return 1.0 / (total - 7.0) if total != 7.0 else [1.0][3] * total


def test_what_another_run_raises_is_what_the_program_raises():
    gradient = wg.grad(raising_by_name)
    assert gradient([1.5, 0.7], "plain") is not None
    with pytest.raises(IndexError, match="list index out of range"):
        gradient([3.0, 2.0], "plain")
    assert gradient([1.5, 0.7], "plain") is not None


# --- sets of what is plain, and questions -------------------------------------------------


def near_pairs(xs, reach):
    bodies = [[x, 0.0] for x in xs]
    near = {
        i: {j for j, b in enumerate(bodies) if j != i and abs(a[0] - b[0]) < reach}
        for i, a in enumerate(bodies)
    }
    for i, body in enumerate(bodies):
        for j in sorted(near[i]):
            body[1] += (bodies[j][0] - body[0]) ** 2
    return sum((1 + k) * body[1] for k, body in enumerate(bodies))


def shortest_way_around(weights):
    ways = {}
    for (a, b), weight in zip(["ab", "ac", "bd", "cd", "bc"], weights):
        ways.setdefault(a, {})[b] = weight
        ways.setdefault(b, {})[a] = weight * 1.1

    def shortest(banned):
        lengths, heap, done = {"a": 0.0}, [(0.0, "a")], set()
        while heap:
            length, here = heapq.heappop(heap)
            if here in done:
                continue
            done.add(here)
            for there, weight in ways[here].items():
                if frozenset((here, there)) in banned:
                    continue
                if length + weight < lengths.get(there, math.inf):
                    lengths[there] = length + weight
                    heapq.heappush(heap, (length + weight, there))
        return lengths["d"]

    return shortest(frozenset()) + 2 * shortest(frozenset([frozenset("bd")]))


@pytest.mark.parametrize(
    ("program", "args"),
    [(near_pairs, ([0.1, 0.9, 1.5], 1.0)), (shortest_way_around, ([1.0, 2.0, 2.5, 0.7, 0.3],))],
)
def test_sets_of_what_is_plain(program, args):
    (found,) = written_out(program, (0,), args)
    np.testing.assert_allclose(found, differenced(program, args, len(args[0])), rtol=1e-6)


# --- programs whose operands only the run knows --------------------------------------------


class Arrow:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Arrow(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Arrow(self.x * factor, self.y * factor)

    def along(self, other):
        return self.x * other.x + self.y * other.y


class Disc:
    def __init__(self, middle, radius):
        self.middle, self.radius = middle, radius

    def distance(self, place):
        away = place + self.middle * -1.0
        return math.sqrt(away.along(away)) - self.radius

    def outwards(self, place):
        return (place + self.middle * -1.0) * (1 / self.radius)


class Wall(Disc):
    def distance(self, place):
        return abs(place.x - self.middle.x)

    def outwards(self, place):
        return Arrow(-1.0, 0.0)


def bounced(radius, x):
    shapes = [Disc(Arrow(0.0, 1.0), radius), Wall(Arrow(3.0, 0.0), 0.0)]
    place, total = Arrow(x, 0.5), 0.0
    for _ in range(3):
        distance, _, nearest = min(
            ((shape.distance(place), k, shape) for k, shape in enumerate(shapes)),
            key=lambda each: each[0],
        )
        place = place + nearest.outwards(place) * (0.5 * distance)
        total += place.along(place)
    return total


def test_operands_of_an_operator_are_known_in_a_run():
    wg.testing.check_gradient(bounced, 0.8, 1.1)
    wg.testing.check_gradient(bounced, 0.8, 2.9)
    assert wg.hvp(bounced)(0.8, 1.1, 1.0) == pytest.approx(
        (wg.grad(bounced)(0.8 + 1e-6, 1.1) - wg.grad(bounced)(0.8 - 1e-6, 1.1)) / 2e-6, rel=1e-6
    )


class Loud(Wall):
    def outwards(self, place):
        print("asked")
        return Arrow(-1.0, 0.0)


def bounced_aloud(radius, x):
    shapes = [Disc(Arrow(0.0, 1.0), radius), Loud(Arrow(3.0, 0.0), 0.0)]
    place = Arrow(x, 0.5)
    nearest = min(((shape.distance(place), k, shape) for k, shape in enumerate(shapes)))[2]
    return (place + nearest.outwards(place)).along(place)


def test_what_may_have_printed_is_not_run_again(capsys):
    with contextlib.suppress(UnsupportedSyntax):
        wg.gradient(bounced_aloud, 0.8, 2.9)
    assert capsys.readouterr().out.count("asked") <= 1


# --- a `try` in another, where nothing is raised --------------------------------------------


class Restored:
    def __init__(self, state):
        self.state = state

    def __enter__(self):
        self.saved = dict(self.state)
        return self.state

    def __exit__(self, kind, error, traceback):
        if kind is None:
            return False
        self.state.update(self.saved)
        return issubclass(kind, KeyError)


class TooFar(Exception):
    def __init__(self, k, step):
        super().__init__(f"too far in step {k}")
        self.step = step


def by_newton(x):
    for k in range(5):
        step = (math.atan(1.5 * x) - 0.3) * (1 + (1.5 * x) ** 2) / 1.5
        if abs(step) > 5.0:
            raise TooFar(k, step)
        x -= step
    return x


def stepped_back(x):
    state, count, root = {"x": x}, {"tries": 0}, 0.0
    for factor in (1.0, 0.5):
        try:
            with Restored(state) as current:
                current["x"] *= factor
                root += by_newton(current["x"]) * current["x"]
        except TooFar as error:
            state["x"] += 0.01 * error.step
            continue
        finally:
            count["tries"] += 1
    return root + state["x"] * count["tries"]


@pytest.mark.parametrize("x", [0.3, 2.0])
def test_managers_that_put_things_back(x):
    wg.testing.check_gradient(stepped_back, x)


class Leaf:
    def __init__(self, key, value):
        self.key, self.value, self.left, self.right = key, value, None, None


def put(leaf, key, value):
    if leaf is None:
        return Leaf(key, value)
    if key < leaf.key:
        leaf.left = put(leaf.left, key, value)
    else:
        leaf.right = put(leaf.right, key, value)
    return leaf


def in_order(leaf):
    if leaf:
        yield from in_order(leaf.left)
        yield leaf
        yield from in_order(leaf.right)


def area_under(xs, w):
    root, total, before = None, 0.0, None
    for k, x in enumerate(xs):
        root = put(root, x, w * x * k)
    for leaf in in_order(root):
        if before is not None:
            total += (leaf.key - before.key) * (leaf.value + before.value)
        before = leaf
    return total


def test_tangents_of_a_list_that_a_run_takes_apart():
    xs = [0.5, 0.9, 1.4, 0.1, 1.1, 1.9, 0.3]
    slopes = wg.gradient(area_under, xs, 0.8)
    _, push = wg.pushforward(area_under, xs, 0.8)
    for dots in ([1.0, 0.0, 2.0, 0.5, 0.0, -1.0, 3.0], [0.0] * 7):
        expected = np.dot(slopes[0], dots) + 2.0 * slopes[1]
        assert push(dots, 2.0) == pytest.approx(expected, rel=1e-12)
    assert push(None, 1.0) == pytest.approx(slopes[1], rel=1e-12)


def grouped_by_the_run_and_long(x):
    groups = {}
    for i in range(6):
        groups.setdefault(int(3 * x * i), []).append([x * i])
    for members in groups.values():
        for member in members:
            member[0] *= len(members)
    total = sum(member[0] for members in groups.values() for member in members)
    for _ in range(1200):
        total = total * 0.999 + x
    return total


def test_a_run_may_have_thousands_of_turns():
    found, step = wg.grad(grouped_by_the_run_and_long)(0.7), 1e-6
    rise = grouped_by_the_run_and_long(0.7 + step) - grouped_by_the_run_and_long(0.7 - step)
    assert found == pytest.approx(rise / (2 * step), rel=1e-6)


def sigma_points(mean, covariance):
    points = mean
    root = linalg.sqrtm(covariance)
    for i in range(len(mean[:, 0])):
        points = np.hstack((points, mean + root[:, i : i + 1]))
    return points


def unscented(theta):
    """The mean may itself be the first of the points, which are written to; how many there are `sqrtm` decides."""
    mean = np.full((2, 1), theta[0])
    for _ in range(2):
        points = sigma_points(mean, np.eye(2) * theta[1])
        for k in range(points.shape[1]):
            points[:, k] = np.sin(points[:, k])
        mean = mean + 0.5 * points[:, 2:3]
    return np.sum(mean)


def test_what_functions_of_matrices_give_is_known():
    theta = np.array([0.4, 0.8])
    expected = [
        oracle.central_difference(lambda t, e=e: unscented(theta + t * e), 0.0) for e in np.eye(2)
    ]
    np.testing.assert_allclose(wg.grad(unscented)(theta), expected, rtol=1e-7)
    pushed = [wg.pushforward(unscented, theta)[1](e) for e in np.eye(2)]
    np.testing.assert_allclose(pushed, expected, rtol=1e-7)


class Particle:
    def __init__(self, x):
        self.x = x
        self.weight = 1.0
        self.path = np.array([x, x])


def filtered(theta):
    """What the shared generators draw decides which particles go on, and share what they hold."""
    np.random.seed(3)
    random.seed(4)
    particles = [Particle(theta[0] + random.gauss(0, 0.3)) for _ in range(4)]
    for k in range(3):
        for particle in particles:
            particle.x += theta[1] + np.random.normal(0.0, 0.3, size=1)[0]
            particle.weight *= math.exp(-((particle.x - 0.5 * k) ** 2))
            particle.path[0] += particle.x
        total = sum(p.weight for p in particles)
        ends = np.cumsum([p.weight / total for p in particles])
        before = particles[:]
        for i in range(4):
            chosen = before[min(int(np.searchsorted(ends, np.random.rand())), 3)]
            particles[i].x, particles[i].path = chosen.x, chosen.path[:]
            particles[i].weight = 1.0 + 0.1 * chosen.weight
    return sum(p.x * p.path[0] for p in particles)


def test_what_seeded_generators_draw_is_known():
    theta = np.array([0.4, 0.3])
    expected = [
        oracle.central_difference(lambda t, e=e: filtered(theta + t * e), 0.0) for e in np.eye(2)
    ]
    np.testing.assert_allclose(wg.grad(filtered)(theta), expected, rtol=1e-6)
    np.testing.assert_allclose(wg.grad(filtered)(theta), expected, rtol=1e-6)
    pushed = [wg.pushforward(filtered, theta)[1](e) for e in np.eye(2)]
    np.testing.assert_allclose(pushed, expected, rtol=1e-6)
    (found,) = written_out(filtered, (0,), (theta,))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def unseeded(theta):
    particles = [Particle(theta), Particle(2 * theta)]
    before = particles[:]
    if np.random.rand() > 0.5:
        particles[0].path = before[1].path[:]
    particles[0].path[0] *= theta
    return particles[1].path[0]


def test_what_other_generators_draw_is_not_known():
    with pytest.raises(UnsupportedSyntax):
        wg.grad(unseeded, tier="static")(1.5)


def wrapped(angle):
    """What a function is given decides what it gives."""
    alone = isinstance(angle, float)
    turned = np.asarray(angle).flatten() % 2.0
    return turned.item() if alone else turned


def course_of_segments(theta):
    """Lists of unknown lengths, whose ends decide how often they are lengthened."""
    xs, ends = [0.0], [None, None]
    for k, (name, found) in enumerate([("a", wrapped(theta[0])), ("b", wrapped(theta[1] + 2.0))]):
        if found > 0.1:
            ends[k] = (name, found)
    for name, length in ends:
        start, gone = xs[-1], 0.25
        while gone < length:
            xs.append(start + gone if name == "a" else start * gone)
            gone += 0.25
        xs.append(start + length)
    return sum(xs)


def test_what_a_run_asks_of_its_values_is_known():
    theta = np.array([0.7, 1.1])
    expected = [
        oracle.central_difference(lambda t, e=e: course_of_segments(theta + t * e), 0.0)
        for e in np.eye(2)
    ]
    (found,) = written_out(course_of_segments, (0,), (theta,))
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    np.testing.assert_allclose(wg.grad(course_of_segments)(theta), expected, rtol=1e-7)
