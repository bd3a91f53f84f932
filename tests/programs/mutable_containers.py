"""Lists, dictionaries, queues, sets and nests of them that are filled and changed."""

import bisect
import copy
import heapq
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np

from .registry import add

# Lists


def every_list_method(x, y):
    xs = [x]
    xs.append(y)
    xs.extend([x * y, 2.0])
    xs.insert(1, x + y)
    last = xs.pop()
    second = xs.pop(1)
    xs += (last * x, second)
    xs[0] = xs[-1] ** 2
    xs[1] *= 3
    xs.reverse()
    kept = xs.copy()
    del xs[0]
    xs.sort()
    xs *= 2
    kept.clear()
    return sum((k + 1) * item for k, item in enumerate(xs)) + len(kept) + xs.index(xs[2])


add(every_list_method, (1.5, 0.7), (-0.4, 2.1))


def slices_of_lists(xs, y):
    xs[1:3] = [y, y * 2, xs[0]]
    xs[::2] = [item * y for item in xs[::2]]
    del xs[-2:]
    xs[len(xs) :] = [7.0 * y]
    xs[:0] = [xs[-1]]
    tail = xs[2:]
    tail[0] = 100.0
    return sum(k * item for k, item in enumerate(xs)) + len(xs)


add(slices_of_lists, ([1.0, 2.0, 3.0, 4.0, 5.0], 0.7))


def aliased_lists(x, y):
    row = [x, y]
    grid = [row, row, list(row)]
    grid[0][1] = 3 * x
    grid[2][0] += y
    shared = [[0.0] * 2] * 3
    shared[1][0] = x * y
    other = grid
    other.append(shared[2])
    other[3][1] = row[1]
    return sum(sum(r) for r in grid) + shared[0][0] * shared[1][1]


add(aliased_lists, (1.5, 0.7), note="[[0.0] * 2] * 3 is one row three times")


def fill_through_argument(out, x, k):
    if k == 0:
        return
    out.append(x)
    fill_through_argument(out, x * x * 0.5, k - 1)
    out[0] += 1.0


def lists_as_out_parameters(x):
    collected = []
    fill_through_argument(collected, x, 4)
    return math.prod(collected)


add(lists_as_out_parameters, (1.3,))


def insertion_sort(xs):
    xs = list(xs)
    for i in range(1, len(xs)):
        item, j = xs[i], i
        while j > 0 and xs[j - 1] > item:
            xs[j] = xs[j - 1]
            j -= 1
        xs[j] = item
    return sum(item * math.cos(k) for k, item in enumerate(xs))


add(insertion_sort, ([0.5, -1.2, 2.0, 0.9],), (np.array([3.0, 1.0, 2.0]),))


def quicksort(xs, low, high):
    if low >= high:
        return
    pivot, store = xs[high], low
    for k in range(low, high):
        if xs[k] < pivot:
            xs[store], xs[k] = xs[k], xs[store]
            store += 1
    xs[store], xs[high] = xs[high], xs[store]
    quicksort(xs, low, store - 1)
    quicksort(xs, store + 1, high)


def gini_coefficient(incomes):
    quicksort(incomes, 0, len(incomes) - 1)
    n = len(incomes)
    weighted = 0.0
    for rank, income in enumerate(incomes, 1):
        weighted += rank * income
    return 2 * weighted / (n * sum(incomes)) - (n + 1) / n


add(gini_coefficient, ([3.0, 1.2, 0.5, 7.0, 2.2],), note="the argument is left sorted")


def merge_sort(xs):
    if len(xs) < 2:
        return xs
    left, right = merge_sort(xs[: len(xs) // 2]), merge_sort(xs[len(xs) // 2 :])
    merged = []
    while left and right:
        merged.append(left.pop(0) if left[0] <= right[0] else right.pop(0))
    merged.extend(left or right)
    return merged


def median_deviation(xs):
    middle = merge_sort(xs)[len(xs) // 2]
    deviations = merge_sort([abs(x - middle) for x in xs])
    return deviations[len(xs) // 2] * middle


add(median_deviation, ([0.5, -1.2, 2.0, 0.9, 3.1],))


def running_median(xs):
    ordered = []
    total = 0.0
    for x in xs:
        bisect.insort(ordered, x)
        n = len(ordered)
        middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
        total += middle * middle
        if n > 3:
            ordered.pop(0)
    return total


add(running_median, ([0.5, -1.2, 2.0, 0.9, 3.1],))


def reverse_polish(program, x, y):
    stack, names = [], {"x": x, "y": y}
    for word in program.split():
        if word in ("+", "-", "*", "/", "^"):
            right, left = stack.pop(), stack.pop()
            if word == "+":
                stack.append(left + right)
            elif word == "-":
                stack.append(left - right)
            elif word == "*":
                stack.append(left * right)
            elif word == "/":
                stack.append(left / right)
            else:
                stack.append(left**right)
        elif word == "dup":
            stack.append(stack[-1])
        elif word == "sin":
            stack[-1] = math.sin(stack[-1])
        else:
            stack.append(names[word] if word in names else float(word))
    assert len(stack) == 1
    return stack[0]


add(
    reverse_polish,
    ("x y * sin dup 2 ^ + y x 1.5 + / -", 1.2, 0.7),
    ("x dup *", 1.5, 0.2),
    wrt=(1, 2),
)


def sliding_maximum(xs, width):
    indices = deque()
    total = 0.0
    for i, x in enumerate(xs):
        while indices and xs[indices[-1]] <= x:
            indices.pop()
        indices.append(i)
        if indices[0] <= i - width:
            indices.popleft()
        if i >= width - 1:
            total += xs[indices[0]] ** 2
    return total


add(sliding_maximum, ([0.5, 1.7, 1.1, 0.9, 0.2, 2.4], 3), wrt=(0,))


def string_vibrations(length, decay):
    """Karplus and Strong's plucked string: a queue that feeds itself."""
    string = deque(math.sin(k * length) for k in range(5))
    energy = 0.0
    for _ in range(12):
        first = string.popleft()
        string.append(decay * 0.5 * (first + string[0]))
        energy += first**2
    string.rotate(2)
    string.appendleft(energy)
    string.extendleft([decay, length])
    return string[2] + string[3] * string[-1]


add(string_vibrations, (0.8, 0.95))


def clipped_polygon(corners, cut):
    """The area of a polygon left of x = cut (Sutherland and Hodgman, shoelace)."""
    kept = []
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        inside0, inside1 = x0 <= cut, x1 <= cut
        if inside0 != inside1:
            t = (cut - x0) / (x1 - x0)
            kept.append((cut, y0 + t * (y1 - y0)))
        if inside1:
            kept.append((x1, y1))
    area = 0.0
    for k in range(len(kept)):
        (x0, y0), (x1, y1) = kept[k - 1], kept[k]
        area += x0 * y1 - x1 * y0
    return abs(area) / 2


add(
    clipped_polygon,
    ([(0.0, 0.0), (2.0, 0.3), (1.5, 1.8), (-0.4, 1.1)], 1.2),
    ([(0.0, 0.0), (2.0, 0.3), (1.5, 1.8)], 5.0),
)


def hull_perimeter(points):
    def turn(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    def half(ordered):
        chain = []
        for p in ordered:
            while len(chain) >= 2 and turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    ordered = sorted(points)
    hull = half(ordered) + half(ordered[::-1])
    total = 0.0
    for k, (x, y) in enumerate(hull):
        total += math.hypot(x - hull[k - 1][0], y - hull[k - 1][1])
    return total


add(hull_perimeter, ([(0.0, 0.1), (1.0, 0.5), (0.4, 0.6), (1.8, 0.2), (0.9, 1.7), (0.2, 1.2)],))


def transposed_in_place(matrix, factor):
    n = len(matrix)
    for i in range(n):
        for j in range(i + 1, n):
            matrix[i][j], matrix[j][i] = matrix[j][i], factor * matrix[i][j]
    for row in matrix:
        row.reverse()
    matrix[0], matrix[-1] = matrix[-1], matrix[0]
    first, *_ = matrix
    first.append(factor)
    columns = [list(column) for column in zip(*matrix)]
    columns[0][1] += 1.0
    return sum(a * b for a, b in zip(columns[0], columns[1])) + first[-1] * matrix[1][0]


add(transposed_in_place, ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.5]], 0.7))


# Dictionaries


def every_dict_method(x, y):
    d = {"x": x}
    d["y"] = y
    d["x"] *= 2
    d.update(z=x * y, w=1.0)
    d.update({"w": y**2})
    old = d.pop("z")
    d.setdefault("x", 100.0)
    d.setdefault("v", old + x)
    missing = d.pop("nothing", 0.5)
    del d["y"]
    d |= {"u": missing * x}
    key, last = d.popitem()
    total = d.get("q", y) + d["v"] * last + len(key)
    for k in list(d):
        if k == "w":
            d[k] += total
    for k, v in d.items():
        total += v * (ord(k) - 110)
    copied = dict(d)
    d.clear()
    return total + sum(copied.values()) + len(d)


add(every_dict_method, (1.5, 0.7))


def descended(params, rate):
    """A dictionary of numbers and arrays, updated under its own names."""
    for step in range(3):
        miss = params["w"] @ np.array([1.0, -0.5]) + params["b"] - 0.3
        grads = {"w": 2 * miss * np.array([1.0, -0.5]), "b": 2 * miss}
        for name in params:
            params[name] -= rate * grads[name]
        params["w"] *= 1 - 0.01 * step
    return miss**2 + params["b"] + np.sum(params["w"] ** 2)


add(descended, ({"w": np.array([0.5, 1.2]), "b": 0.1}, 0.2), note="the caller's array is updated")


def momentum_by_name(params, grads, velocity):
    for name, g in grads.items():
        velocity[name] = 0.9 * velocity.get(name, 0.0) - 0.1 * g
        params[name] = params[name] + velocity[name]
    return sum(p * p for p in params.values()) + velocity["a"] * velocity["b"]


add(momentum_by_name, ({"a": 1.0, "b": -0.5}, {"b": 0.7, "a": 2.0}, {"a": 0.3}))


def grouped(records, exponent):
    groups = defaultdict(list)
    for name, value in records:
        groups[name].append(value)
    totals = defaultdict(float)
    for name, values in groups.items():
        for v in values:
            totals[name] += v**exponent
        totals["all"] += totals[name] / len(values)
    return totals["all"] + totals["a"] * totals["missing"] + len(totals)


RECORDS = [("a", 1.5), ("b", 0.7), ("a", 2.1), ("c", 0.4), ("b", 1.1)]
add(grouped, (RECORDS, 1.7))


def entropy_of_tags(tags, weights):
    counts = Counter()
    for tag in tags:
        counts[tag] += weights[tag]
    total = sum(counts.values())
    for tag in counts:
        counts[tag] /= total
    (top, share), *_ = counts.most_common(1)
    return -sum(p * math.log(p) for p in counts.values()) + share * weights[top]


add(entropy_of_tags, ("abacab", {"a": 0.5, "b": 1.5, "c": 2.0}), wrt=(1,))


def inventory(orders, prices):
    stock = OrderedDict([("bolt", 10.0), ("nut", 20.0)])
    turnover = 0.0
    for item, amount in orders:
        if item not in stock:
            stock[item] = 0.0
        sold = min(amount, stock[item])
        stock[item] -= sold
        turnover += sold * prices.setdefault(item, 1.0)
        prices[item] *= 1.05
        stock.move_to_end(item)
    item, left = stock.popitem(last=False)
    return turnover + left * prices[item] + sum(stock.values())


add(
    inventory,
    ([("nut", 4.5), ("bolt", 12.0), ("pin", 3.0), ("nut", 2.5)], {"bolt": 0.3, "nut": 0.2}),
)


Sample = namedtuple("Sample", "time value weight")


def replaced_tuples(samples, shift):
    moved = [s._replace(time=s.time + shift) for s in samples]
    moved[1] = moved[1]._replace(value=moved[0].value * 2, weight=shift)
    by_time = {s.time > 1: s for s in moved}
    area = 0.0
    for a, b in zip(moved, moved[1:]):
        area += 0.5 * (b.time - a.time) * (a.value * a.weight + b.value * b.weight)
    return area + by_time[True].value


SAMPLES = [Sample(0.0, 1.5, 1.0), Sample(0.7, 0.3, 2.0), Sample(1.9, 1.1, 0.5)]
add(replaced_tuples, (SAMPLES, 0.3))


def nested_records(config, x):
    config["layers"][0]["units"] *= x
    config["layers"].append({"units": x, "rates": [0.1 * x]})
    config["layers"][-1]["rates"].append(config["layers"][0]["units"])
    best = config["layers"][1]
    best["units"] += 1
    config["best"] = best["units"]
    total = 0.0
    for layer in config["layers"]:
        for rate in layer["rates"]:
            total += layer["units"] * rate
    return total


add(
    nested_records,
    ({"layers": [{"units": 2.0, "rates": [0.3]}, {"units": 1.5, "rates": [0.7, 0.2]}]}, 1.2),
)


def copies_deep_and_shallow(table):
    shallow, deep = copy.copy(table), copy.deepcopy(table)
    table["rows"][0][0] *= 2
    table["scale"] = 5.0
    shallow["rows"].append([table["scale"]])
    deep["rows"][1][0] += deep["scale"]
    flat = [item for t in (table, shallow, deep) for row in t["rows"] for item in row]
    return sum(flat) * shallow["scale"] + deep["scale"] ** 2


add(copies_deep_and_shallow, ({"rows": [[1.0, 2.0], [3.0]], "scale": 0.5},))


def molar_mass(formula, masses):
    """Parse a formula such as C6H12O6."""
    counts, symbol, digits = {}, "", ""
    for character in formula + "A":
        if character.isupper():
            if symbol:
                counts[symbol] = counts.get(symbol, 0) + int(digits or 1)
            symbol, digits = character, ""
        elif character.isdigit():
            digits += character
        else:
            symbol += character
    return math.log(sum(masses[s] * n for s, n in counts.items()))


add(molar_mass, ("NaC6H12O6H", {"Na": 22.99, "C": 12.011, "H": 1.008, "O": 15.999}), wrt=(1,))


def spreadsheet(price, rate):
    values = {"price": price, "rate": rate}
    formulas = {
        "total": lambda cell: cell("net") + cell("tax"),
        "tax": lambda cell: cell("net") * cell("rate"),
        "net": lambda cell: cell("price") * (1 - 0.1 * cell("rate")),
    }
    order = []

    def cell(name):
        if name not in values:
            values[name] = formulas[name](cell)
            order.append(name)
        return values[name]

    return cell("total") + 0.01 * order.index("net") + values["tax"] ** 2


add(spreadsheet, (12.0, 0.2))


# Polynomials and sparse matrices


def polynomial_product(a, b):
    out = [0.0] * (len(a) + len(b) - 1)
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            out[i + j] += p * q
    return out


def composed_polynomial(outer, inner, x):
    result = [outer[-1]]
    for c in reversed(outer[:-1]):
        result = polynomial_product(result, inner)
        result[0] += c
    slope = [k * c for k, c in enumerate(result)][1:]
    while len(slope) > 3:
        slope.pop()
    value = 0.0
    for c in slope[::-1]:
        value = value * x + c
    return value


add(composed_polynomial, ([1.0, -0.5, 2.0], [0.3, 1.1], 0.7))


def polynomial_division(numerator, denominator):
    remainder = list(numerator)
    quotient = []
    while len(remainder) >= len(denominator):
        factor = remainder[0] / denominator[0]
        quotient.append(factor)
        for k, d in enumerate(denominator):
            remainder[k] -= factor * d
        remainder.pop(0)
    return quotient, remainder


add(polynomial_division, ([2.0, -1.0, 0.5, 3.0, 1.0], [1.5, 0.2, -0.7]))


def multivariate_power(coefficients, x, y):
    """Polynomials in two variables as dictionaries from exponents to coefficients."""

    def times(p, q):
        out = {}
        for (i, j), a in p.items():
            for (k, m), b in q.items():
                key = (i + k, j + m)
                out[key] = out.get(key, 0.0) + a * b
        return out

    p = {(0, 0): coefficients[0], (1, 0): coefficients[1], (0, 1): coefficients[2]}
    cube = times(p, times(p, p))
    cube.pop((1, 1), None)
    return sum(c * x**i * y**j for (i, j), c in cube.items())


add(multivariate_power, ([0.5, -1.2, 0.8], 0.7, 1.1))


def series_reciprocal(a, x):
    """The first terms of 1 / (a0 + a1 x + …)."""
    b = []
    for n in range(5):
        s = 1.0 if n == 0 else 0.0
        for k in range(1, min(n, len(a) - 1) + 1):
            s -= a[k] * b[n - k]
        b.append(s / a[0])
    total = 0.0
    power = 1.0
    for c in b:
        total += c * power
        power *= x
    return total


add(series_reciprocal, ([1.5, -0.4, 0.3], 0.6))


def sparse_by_keys(entries, x):
    """A matrix as a dictionary of keys, times a vector, with entries dropped and added."""
    matrix = {}
    for i, j, value in entries:
        matrix[i, j] = matrix.get((i, j), 0.0) + value
    matrix[0, 0] = matrix.setdefault((0, 0), 1.0) * 2
    for key in [key for key in matrix if key[0] == key[1] == 2]:
        del matrix[key]
    for _ in range(2):
        y = [0.0] * len(x)
        for (i, j), value in matrix.items():
            y[i] += value * x[j]
        x = y
    return sum(item**2 for item in x)


def with_entries(values, x):
    places = [(0, 1), (1, 0), (2, 2), (1, 2), (0, 1)]
    return sparse_by_keys([(i, j, v) for (i, j), v in zip(places, values)], x)


add(with_entries, ([0.5, -1.0, 2.0, 0.7, 1.1], [1.0, 0.4, -0.3]))


def compressed_rows(dense, x):
    data, columns, starts = [], [], [0]
    for row in dense:
        for j, item in enumerate(row):
            if item != 0:
                data.append(item)
                columns.append(j)
        starts.append(len(data))
    for _ in range(3):
        y = np.zeros(len(x))
        for i in range(len(x)):
            for k in range(starts[i], starts[i + 1]):
                y[i] += data[k] * x[columns[k]]
        x = y / np.max(np.abs(y))
    return x @ np.arange(1.0, len(x) + 1)


add(
    compressed_rows,
    (np.array([[2.0, 0.5, 0.0], [0.0, 1.5, -0.7], [0.3, 0.0, 1.1]]), np.array([1.0, 0.5, 0.2])),
    wrt=(1,),
)


# Graphs and trees


def shortest_path(edges, start, goal):
    graph = {}
    for a, b, length in edges:
        graph.setdefault(a, []).append((b, length))
        graph.setdefault(b, []).append((a, length))
    distance, done = {start: 0.0}, set()
    queue = [(0.0, start)]
    while queue:
        d, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        if node == goal:
            break
        for neighbour, length in graph[node]:
            candidate = d + length
            if candidate < distance.get(neighbour, math.inf):
                distance[neighbour] = candidate
                heapq.heappush(queue, (candidate, neighbour))
    return distance[goal] + 0.1 * len(done)


EDGES = [("a", "b", 1.5), ("b", "c", 0.7), ("a", "c", 2.9), ("c", "d", 1.1), ("b", "d", 2.4)]
add(shortest_path, (EDGES, "a", "d"), wrt=(0,))


def soft_bellman_ford(lengths, temperature):
    pairs = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
    distance = [0.0] + [20.0] * 3
    for _ in range(3):
        new = distance[:]
        for (a, b), length in zip(pairs, lengths):
            u, v = new[b], distance[a] + length
            low = min(u, v)
            new[b] = low - temperature * math.log(
                math.exp((low - u) / temperature) + math.exp((low - v) / temperature)
            )
        distance = new
    return distance[-1]


add(soft_bellman_ford, ([1.5, 0.7, 2.1, 1.1, 1.9], 0.4))


def all_pairs(lengths):
    n = len(lengths)
    d = [row[:] for row in lengths]
    through = [[None] * n for _ in range(n)]
    for i in range(n):
        d[i][i] = 0.0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
                    through[i][j] = k
    stops = sum(stop is not None for row in through for stop in row)
    return max(max(row) for row in d) + 0.1 * stops


add(
    all_pairs,
    ([[0.0, 1.5, 9.0, 4.1], [1.2, 0.0, 0.7, 8.0], [7.0, 2.0, 0.0, 0.9], [3.0, 5.0, 1.1, 0.0]],),
)


def page_rank(weights, damping):
    links = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c", "a"]}
    rank = dict.fromkeys(links, 1.0 / len(links))
    for _ in range(4):
        new = {page: (1 - damping) / len(links) for page in links}
        for page, targets in links.items():
            total = sum(weights[t] for t in targets)
            for t in targets:
                new[t] += damping * rank[page] * weights[t] / total
        rank.update(new)
    return rank["c"] + rank["a"] ** 2


add(page_rank, ({"a": 1.0, "b": 0.5, "c": 2.0}, 0.85))


def spanning_tree(points):
    parent = list(range(len(points)))

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    edges = []
    for i in range(len(points)):
        for j in range(i):
            edges.append((math.dist(points[i], points[j]), i, j))
    edges.sort()
    total = 0.0
    for length, i, j in edges:
        a, b = find(i), find(j)
        if a != b:
            parent[a] = b
            total += length
    return total


add(spanning_tree, ([(0.0, 0.1), (1.0, 0.5), (0.4, 0.9), (1.8, 0.2)],))


def huffman_cost(weights):
    heap = [(w, k) for k, w in enumerate(weights)]
    heapq.heapify(heap)
    cost, label = 0.0, len(weights)
    while len(heap) > 1:
        a, _ = heapq.heappop(heap)
        b, _ = heapq.heappop(heap)
        cost += math.log(1 + a + b)
        heapq.heappush(heap, (a + b, label))
        label += 1
    return cost


add(huffman_cost, ([0.5, 1.7, 0.3, 2.2, 0.9],))


def tree_by_stack(tree):
    """Nested tuples (value, children) walked without recursion."""
    stack = [(tree, 1.0, 0)]
    total, deepest = 0.0, 0
    while stack:
        (value, children), weight, depth = stack.pop()
        total += weight * value
        deepest = max(deepest, depth)
        for child in children:
            stack.append((child, weight * 0.5 * value, depth + 1))
    return total * deepest


add(tree_by_stack, ((1.5, [(0.7, []), (2.0, [(0.3, []), (1.1, [])])]),))


def fault_tree(probabilities):
    gates = {"top": ("or", ["pump", "power"]), "power": ("and", ["grid", "diesel"])}
    known = dict(probabilities)
    pending = ["top"]
    while pending:
        gate = pending[-1]
        kind, inputs = gates[gate]
        unknown = [name for name in inputs if name not in known]
        if unknown:
            pending.extend(unknown)
            continue
        pending.pop()
        if kind == "and":
            known[gate] = math.prod(known[name] for name in inputs)
        else:
            fine = 1.0
            for name in inputs:
                fine *= 1 - known[name]
            known[gate] = 1 - fine
    return known["top"]


add(fault_tree, ({"pump": 0.1, "grid": 0.3, "diesel": 0.2},))


def bill_of_materials(costs, counts):
    parts = {"bike": ["frame", "wheel", "wheel"], "wheel": ["rim", "spoke"], "frame": ["tube"]}
    cache = {}

    def cost(name):
        if name in cache:
            return cache[name]
        if name in parts:
            total = costs.get("labour", 0.0)
            for part in parts[name]:
                total += counts.get(part, 1.0) * cost(part)
        else:
            total = costs[name]
        cache[name] = total
        return total

    return cost("bike") + 0.1 * len(cache)


add(bill_of_materials, ({"rim": 5.0, "spoke": 0.1, "tube": 3.0, "labour": 2.0}, {"spoke": 32.0}))


def order_book(bids, asks):
    """Orders are (price, amount); the best meet until nobody wants to trade."""
    bids = [(-price, amount) for price, amount in bids]
    asks = list(asks)
    heapq.heapify(bids)
    heapq.heapify(asks)
    volume = 0.0
    while bids and asks and -bids[0][0] >= asks[0][0]:
        bid, wanted = heapq.heappop(bids)
        ask, offered = heapq.heappop(asks)
        traded = min(wanted, offered)
        volume += traded * (ask - bid) / 2
        if wanted > traded:
            heapq.heappush(bids, (bid, wanted - traded))
        if offered > traded:
            heapq.heappush(asks, (ask, offered - traded))
    return volume


add(order_book, ([(10.2, 5.0), (10.5, 3.0), (9.8, 7.0)], [(10.1, 4.0), (10.0, 2.5), (10.9, 6.0)]))


def nearest_neighbours(train, query, k):
    distances = []
    for x, y, label in train:
        distances.append(((x - query[0]) ** 2 + (y - query[1]) ** 2, label))
    distances.sort(key=lambda pair: pair[0])
    votes = {}
    for d, label in distances[:k]:
        votes[label] = votes.get(label, 0.0) + 1 / (0.1 + d)
    best = max(votes, key=votes.get)
    return votes[best] / sum(votes.values())


add(
    nearest_neighbours,
    (
        [(0.15, 0.2, "a"), (0.9, 0.8, "b"), (0.4, 0.3, "a"), (0.6, 0.5, "b"), (1.5, 0.1, "c")],
        (0.5, 0.5),
        3,
    ),
    wrt=(0, 1),
)


def simplified_line(points, tolerance):
    """Ramer, Douglas and Peucker with a stack; the length of what is kept."""
    keep = {0, len(points) - 1}
    stack = [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        (x0, y0), (x1, y1) = points[first], points[last]
        worst, index = tolerance, None
        for k in range(first + 1, last):
            x, y = points[k]
            away = abs((x1 - x0) * (y0 - y) - (x0 - x) * (y1 - y0)) / math.hypot(x1 - x0, y1 - y0)
            if away > worst:
                worst, index = away, k
        if index is not None:
            keep.add(index)
            stack += [(first, index), (index, last)]
    kept = [points[k] for k in sorted(keep)]
    return sum(math.dist(a, b) for a, b in zip(kept, kept[1:]))


add(
    simplified_line,
    ([(0.0, 0.0), (1.0, 0.1), (2.0, 1.4), (3.0, 1.2), (4.0, 0.1), (5.0, 0.0)], 0.5),
    wrt=(0,),
)


def tower_moved(n, w):
    """The towers of Hanoi: lists that change places from call to call."""

    def move(k, start, spare, end):
        if k == 0:
            return 0.0
        cost = move(k - 1, start, end, spare)
        disc = start.pop()
        end.append(disc)
        return cost + disc * len(end) + move(k - 1, spare, start, end)

    a, b, c = [w**k for k in range(n)], [], []
    return move(n, a, b, c) + c[0] * c[-1]


add(tower_moved, (3, 1.2), (1, 0.7), wrt=(1,))


def sums_by_key(values, keys):
    total = {}
    for i in range(len(keys)):
        k = keys[i]
        total[k] = total.get(k, 0.0) + values[i] ** 2
    s = 0.0
    for k, v in total.items():
        s = s * 1.5 + math.log1p(v) * (k + 1)
    return s


add(sums_by_key, ([0.7, 1.1, 0.4, 1.3, 0.8, 0.9, 1.2], [2, 0, 2, 1, 0, 2, 5]), wrt=(0,))


def variances_of_groups(values, keys):
    groups = {}
    for i in range(len(keys)):
        groups.setdefault(keys[i], []).append(values[i])
    s = 0.0
    for members in groups.values():
        mean = sum(members) / len(members)
        for v in members:
            s += (v - mean) ** 2
    return s


add(variances_of_groups, ([0.7, 1.1, 0.4, 1.3, 0.8, 0.9, 1.2], [2, 0, 2, 1, 0, 2, 1]), wrt=(0,))


def distances_of_nodes(roads, ends, last):
    """Bellman and Ford, over what has been reached."""
    distance = {0: 0.0}
    for _ in range(last):
        for e in range(len(ends)):
            a, b = ends[e]
            if a in distance:
                along = distance[a] + roads[e] ** 2
                if b not in distance or along < distance[b]:
                    distance[b] = along
    return sum(distance[node] * node for node in sorted(distance))


add(
    distances_of_nodes,
    (
        [0.7, 1.1, 0.4, 1.3, 0.8, 0.9, 1.2],
        [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (3, 4), (0, 4)],
        4,
    ),
    wrt=(0,),
)
