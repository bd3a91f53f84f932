"""Tables filled step by step, and recursions that remember."""

import functools
import heapq
import math

import numpy as np

from .registry import add


def soft_minimum(*values, sharpness=4.0):
    lowest = min(values)
    return lowest - math.log(sum(math.exp(-sharpness * (v - lowest)) for v in values)) / sharpness


def soft_edit_distance(a, b, costs):
    """Letters are numbers; `costs` are those of an insertion, a deletion, and a scale."""
    insertion, deletion, scale = costs
    table = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        table[i][0] = table[i - 1][0] + deletion
    for j in range(1, len(b) + 1):
        table[0][j] = table[0][j - 1] + insertion
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i][j] = soft_minimum(
                table[i - 1][j] + deletion,
                table[i][j - 1] + insertion,
                table[i - 1][j - 1] + scale * (x - y) ** 2,
            )
    return table[-1][-1]


add(soft_edit_distance, ([0.3, 1.9, 0.8], [0.5, 1.1], (1.0, 0.8, 0.7)))


def dynamic_time_warping(x, y, window):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - window), min(m, i + window) + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


add(
    dynamic_time_warping,
    (np.array([0.1, 0.9, 1.4, 0.3]), np.array([0.0, 1.1, 0.5]), 2),
    wrt=(0, 1),
    note="cells outside of the window stay infinite",
)


def soft_time_warping(x, y, gamma):
    R = np.zeros((len(x) + 1, len(y) + 1))
    R[1:, 0] = R[0, 1:] = 1e3
    for i in range(len(x)):
        for j in range(len(y)):
            before = np.array([R[i, j], R[i, j + 1], R[i + 1, j]])
            low = before.min()
            soft = low - gamma * np.log(np.sum(np.exp((low - before) / gamma)))
            R[i + 1, j + 1] = (x[i] - y[j]) ** 2 + soft
    return R[-1, -1]


add(soft_time_warping, (np.array([0.1, 0.9, 1.4]), np.array([0.0, 1.1, 0.5]), 0.5))


def forward_algorithm(initial, transition, emission, seen):
    """The scaled forward algorithm; the scales carry the likelihood."""
    alpha = initial * emission[:, seen[0]]
    likelihood = 0.0
    for symbol in seen[1:]:
        scale = alpha.sum()
        likelihood += math.log(scale)
        alpha /= scale
        new = np.zeros_like(alpha)
        for j in range(len(alpha)):
            for i in range(len(alpha)):
                new[j] += alpha[i] * transition[i, j]
            new[j] *= emission[j, symbol]
        alpha = new
    return likelihood + math.log(alpha.sum())


HIDDEN = (
    np.array([0.6, 0.4]),
    np.array([[0.7, 0.3], [0.2, 0.8]]),
    np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]),
)
add(forward_algorithm, (*HIDDEN, (0, 1, 2, 2, 0)), wrt=(0, 1, 2))


def forward_backward(initial, transition, emission, seen):
    """Posterior probabilities of the states, as Baum and Welch need them."""
    n, steps = len(initial), len(seen)
    alpha, beta = np.empty((steps, n)), np.ones((steps, n))
    alpha[0] = initial * emission[:, seen[0]]
    for t in range(1, steps):
        alpha[t] = (alpha[t - 1] @ transition) * emission[:, seen[t]]
    for t in range(steps - 2, -1, -1):
        beta[t] = transition @ (emission[:, seen[t + 1]] * beta[t + 1])
    gamma = alpha * beta
    gamma /= gamma.sum(axis=1, keepdims=True)
    expected = np.zeros_like(emission)
    for t, symbol in enumerate(seen):
        expected[:, symbol] += gamma[t]
    return expected


add(forward_backward, (*HIDDEN, (0, 1, 2, 1)), wrt=(0, 1, 2))


def viterbi_path(log_initial, log_transition, log_emission, seen):
    states = range(len(log_initial))
    score = [log_initial[s] + log_emission[s][seen[0]] for s in states]
    back = []
    for symbol in seen[1:]:
        step, pointers = [], []
        for s in states:
            best = max(states, key=lambda r: score[r] + log_transition[r][s])
            pointers.append(best)
            step.append(score[best] + log_transition[best][s] + log_emission[s][symbol])
        back.append(pointers)
        score = step
    last = max(states, key=score.__getitem__)
    path = [last]
    for pointers in reversed(back):
        path.insert(0, pointers[path[0]])
    return score[last] + 0.1 * sum(path)


add(
    viterbi_path,
    (
        [-0.5, -0.9],
        [[-0.36, -1.2], [-1.61, -0.22]],
        [[-0.7, -1.2, -1.6], [-2.3, -1.2, -0.5]],
        (0, 1, 2, 2),
    ),
    wrt=(0, 1, 2),
)


def matrix_chain(sizes):
    n = len(sizes) - 1
    cost = [[0.0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i][j] = math.inf
            for k in range(i, j):
                total = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if total < cost[i][j]:
                    cost[i][j] = total
    return cost[0][n - 1]


add(matrix_chain, ([3.0, 1.5, 4.0, 2.5, 1.2],))


def soft_knapsack(values, weights, capacity, temperature):
    """Every packing counts, weighted by its value: the table holds log-sums."""
    best = np.full(capacity + 1, -np.inf)
    best[0] = 0.0
    for value, weight in zip(values, weights):
        for room in range(capacity, weight - 1, -1):
            if best[room - weight] > -np.inf:
                best[room] = np.logaddexp(best[room], best[room - weight] + value / temperature)
    reached = best[np.isfinite(best)]
    top = reached.max()
    return temperature * (top + np.log(np.sum(np.exp(reached - top))))


add(soft_knapsack, ([1.2, 2.0, 0.7], (2, 3, 1), 5, 0.6), wrt=(0, 3))


def knapsack(values, weights, capacity):
    best = [0.0] * (capacity + 1)
    for i in range(len(values)):
        for room in range(capacity, weights[i] - 1, -1):
            best[room] = max(best[room], best[room - weights[i]] + values[i])
    return best[capacity]


add(knapsack, ([1.2, 2.0, 0.7, 1.1], (2, 3, 1, 2), 5), wrt=(0,))


def common_subsequence(a, b, width):
    """The longest common subsequence where letters match more or less."""
    table = {}
    for i in range(len(a) + 1):
        table[i, 0] = 0.0
    for j in range(len(b) + 1):
        table[0, j] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = math.exp(-(((a[i - 1] - b[j - 1]) / width) ** 2))
            table[i, j] = max(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1] + match)
    return table[len(a), len(b)]


add(common_subsequence, ([0.3, 1.9, 0.8], [0.52, 1.25, 2.3], 0.7))


def smith_waterman(a, b, gap):
    best = 0.0
    previous = np.zeros(len(b) + 1)
    for x in a:
        current = np.zeros(len(b) + 1)
        for j, y in enumerate(b, start=1):
            current[j] = max(
                0.0,
                previous[j - 1] + 1.0 - abs(x - y),
                previous[j] - gap,
                current[j - 1] - gap,
            )
            best = max(best, current[j])
        previous = current
    return best


add(smith_waterman, ([0.3, 1.9, 0.8, 2.5], [0.5, 2.2, 1.0], 0.3))


def memoised_steps(x, y, n):
    """Numbers of weighted paths, remembered in a dictionary."""
    known = {}

    def paths(k):
        if k < 0:
            return 0.0
        if k == 0:
            return 1.0
        if k not in known:
            known[k] = x * paths(k - 1) + y * paths(k - 2)
        return known[k]

    return paths(n)


add(memoised_steps, (0.7, 1.2, 6), (0.7, 1.2, 0), wrt=(0, 1))


def table_by_number(x, n):
    table = {0: x[0]}
    for i in range(1, n):
        table[i] = math.sin(table[i - 1]) + x[i % len(x)] * table[i // 2]
    return table[n - 1]


add(table_by_number, ([0.3, -0.5, 1.1], 7), ([0.3, -0.5, 1.1], 1), wrt=(0,))


def memo_in_a_default(x, k, known=None):
    if known is None:
        known = {0: 1.0, 1: x}
    if k in known:
        return known[k]
    known[k] = 2 * x * memo_in_a_default(x, k - 1, known) - memo_in_a_default(x, k - 2, known)
    return known[k]


add(memo_in_a_default, (0.3, 7), wrt=(0,), note="Chebyshev's polynomials")


def cached_lattice_walk(right, down, rows, columns):
    @functools.lru_cache(maxsize=None)
    def weight(i, j):
        if i == 0 and j == 0:
            return 1.0
        total = 0.0
        if i > 0:
            total += down * weight(i - 1, j)
        if j > 0:
            total += right * math.exp(-0.1 * i) * weight(i, j - 1)
        return total

    return weight(rows, columns)


add(cached_lattice_walk, (0.6, 0.8, 3, 2), wrt=(0, 1))


def cached_coin_sums(worths, weights, amount):
    @functools.cache
    def ways(left, kinds):
        if left == 0:
            return 1.0
        if left < 0 or kinds == 0:
            return 0.0
        without = ways(left, kinds - 1)
        return without + weights[kinds - 1] * ways(left - worths[kinds - 1], kinds)

    return math.log(ways(amount, len(worths)))


add(cached_coin_sums, ((1, 2, 5), [0.5, 1.3, 0.8], 7), wrt=(1,))


def optimal_stopping(offers, discount, cost):
    """Backward induction over a week of offers; values are kept day by day."""
    values = [0.0] * (len(offers) + 1)
    decisions = []
    for day in range(len(offers) - 1, -1, -1):
        wait = discount * values[day + 1] - cost
        values[day] = max(offers[day], wait)
        decisions.append(offers[day] >= wait)
    first = decisions[::-1].index(True)
    return values[0] + 0.1 * first * values[first]


add(optimal_stopping, ([0.8, 0.9, 1.4, 0.3, 1.1], 0.95, 0.02))


def value_iteration(rewards, transitions, discount, sweeps):
    states, actions = rewards.shape
    V = np.zeros(states)
    Q = np.empty((states, actions))
    for _ in range(sweeps):
        for s in range(states):
            for a in range(actions):
                Q[s, a] = rewards[s, a] + discount * transitions[s, a] @ V
        top = Q.max(axis=1)
        V = top + 0.2 * np.log(np.sum(np.exp((Q - top[:, None]) / 0.2), axis=1))
    return V @ np.array([0.5, 0.3, 0.2])


add(
    value_iteration,
    (
        np.array([[1.0, 0.2], [0.0, 0.5], [-0.3, 0.8]]),
        np.array([
            [[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]],
            [[0.3, 0.3, 0.4], [0.0, 1.0, 0.0]],
            [[0.6, 0.2, 0.2], [0.25, 0.25, 0.5]],
        ]),
        0.9,
        4,
    ),
    wrt=(0, 1, 2),
)  # fmt: skip


def q_learning(rewards, rate, discount):
    """Temporal differences along a fixed walk, the table changed as it is read."""
    Q = {state: [0.0, 0.0] for state in "abc"}
    walk = [
        ("a", 0, "b"),
        ("b", 1, "c"),
        ("c", 0, "a"),
        ("a", 1, "c"),
        ("c", 1, "b"),
        ("b", 0, "a"),
    ]
    for k, (state, action, following) in enumerate(walk):
        target = rewards[k % len(rewards)] + discount * max(Q[following])
        Q[state][action] += rate * (target - Q[state][action])
    return sum(max(q) for q in Q.values())


add(q_learning, ([1.0, -0.4, 0.7, 0.3], 0.5, 0.9))


def inside_algorithm(rules, lexicon, sentence):
    """The probability of a sentence under a small grammar (CKY)."""
    n = len(sentence)
    chart = {}
    for i, word in enumerate(sentence):
        for symbol, words in lexicon.items():
            if word in words:
                chart[i, i + 1, symbol] = words[word]
    for span in range(2, n + 1):
        for i in range(n - span + 1):
            k = i + span
            for (parent, left, right), p in rules.items():
                for j in range(i + 1, k):
                    inside = chart.get((i, j, left), 0.0) * chart.get((j, k, right), 0.0)
                    if inside > 0:
                        chart[i, k, parent] = chart.get((i, k, parent), 0.0) + p * inside
    return math.log(chart[0, n, "S"])


add(
    inside_algorithm,
    (
        {("S", "N", "V"): 0.9, ("V", "V", "N"): 0.4, ("N", "N", "N"): 0.2, ("S", "S", "N"): 0.1},
        {"N": {"fish": 0.5, "people": 0.3}, "V": {"fish": 0.2, "eat": 0.6}},
        ("people", "eat", "fish", "people"),
    ),
    wrt=(0, 1),
)


def segmented_least_squares(xs, ys, penalty):
    """The best broken line: costs of segments by prefix sums, then a table of best ends."""
    n = len(xs)
    sums = np.zeros((5, n + 1))
    for i in range(n):
        x, y = xs[i], ys[i]
        sums[:, i + 1] = sums[:, i] + np.array([x, y, x * x, x * y, y * y])
    best = [0.0]
    for j in range(1, n + 1):
        candidates = []
        for i in range(j):
            sx, sy, sxx, sxy, syy = sums[:, j] - sums[:, i]
            m = j - i
            if m < 3:
                error = 0.0
            else:
                slope = (m * sxy - sx * sy) / (m * sxx - sx * sx)
                offset = (sy - slope * sx) / m
                error = syy - slope * sxy - offset * sy
            candidates.append(best[i] + error + penalty)
        best.append(min(candidates))
    return best[n]


add(
    segmented_least_squares,
    (
        np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        np.array([0.1, 0.9, 2.2, 2.8, 1.9, 0.7]),
        0.3,
    ),
    rel=1e-10,
)


def beam_search(scores, temperature, width):
    """The best sequences of letters: candidates are tuples, whose paths grow by `+`."""
    beam = [(0.0, ())]
    for row in scores:
        candidates = []
        for score, path in beam:
            for letter, s in enumerate(row):
                bonus = 0.3 if path and path[-1] == letter else 0.0
                candidates.append((score + s * temperature - bonus, path + (letter,)))  # noqa: RUF005
        beam = heapq.nlargest(width, candidates)
    return sum(score * (1 + path[-1]) for score, path in beam)


LETTER_SCORES = [[0.31, 0.9, 0.2], [0.5, 0.13, 0.7], [0.67, 0.4, 0.35], [0.11, 0.77, 0.3]]

add(beam_search, (LETTER_SCORES, 0.8, 2), wrt=(0, 1))
add(beam_search, (np.array(LETTER_SCORES), 0.8, 3), wrt=(0, 1))


def cheapest_walks(steps, discount):
    """What a dictionary gives is a tuple, or nothing yet: prices along the cheapest walks to each place."""
    walks = {0: (0.0,)}
    for k, row in enumerate(steps):
        for to, price in enumerate(row):
            walk = walks.get(k, ()) + (price * discount**k,)  # noqa: RUF005
            if to not in walks or sum(walk) < sum(walks[to]):
                walks[to] = walk
    merged = heapq.merge(*(sorted(walk) for walk in walks.values()), reverse=False)
    lowest = heapq.nsmallest(2, walks, key=lambda to: sum(walks[to]))
    return sum(price / (1 + k) for k, price in enumerate(merged)) + 0.1 * sum(lowest)


add(cheapest_walks, ([[0.4, 0.7, 1.3], [1.1, 0.2, 0.35], [0.6, 0.9, 0.15]], 0.9))
