"""Arrays changed in place: elements, slices, masks, views, buffers, arguments."""

import math

import numpy as np

from .registry import add

V = np.array([0.5, -1.2, 2.0, 0.9, -0.3, 1.4])
W = np.array([1.5, 0.3, -0.7, 0.8, 1.1, -0.4])
POSITIVE = np.array([0.3, 1.7, 2.2, 0.9, 1.3])
M = np.array([[0.2, -0.4, 1.1], [0.9, 0.5, -0.3]])
SQUARE = np.array([[2.0, -0.4, 1.1], [0.9, 1.5, -0.3], [0.2, 0.7, 1.8]])


# Elements, one after the other


def prefix_sums(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return np.sum(a * a)


add(prefix_sums, (V,), (np.array([1.5]),), note="the argument is left changed")


def exponential_smoothing(xs, alpha):
    smooth = np.empty(len(xs))
    smooth[0] = xs[0]
    for t in range(1, len(xs)):
        smooth[t] = alpha * xs[t] + (1 - alpha) * smooth[t - 1]
    return np.mean((xs - smooth) ** 2)


add(exponential_smoothing, (V, 0.3))


def recursive_filter(x, b, a):
    """A biquad section, direct form I."""
    y = np.zeros_like(x)
    for n in range(len(x)):
        y[n] = b[0] * x[n]
        if n >= 1:
            y[n] += b[1] * x[n - 1] - a[0] * y[n - 1]
        if n >= 2:
            y[n] += b[2] * x[n - 2] - a[1] * y[n - 2]
    return y


add(recursive_filter, (V, np.array([0.2, 0.4, 0.2]), np.array([-0.5, 0.3])))


def ring_buffer_average(xs, width):
    window = np.zeros(width)
    total = 0.0
    out = np.empty(len(xs))
    for t, x in enumerate(xs):
        slot = t % width
        total -= window[slot]
        window[slot] = x
        total += window[slot]
        out[t] = total / min(t + 1, width)
    return np.sum(out**3)


add(ring_buffer_average, (V, 3), (V, 1), wrt=(0,))


def bubble_sorted(a):
    a = a.copy()
    n = len(a)
    for last in range(n - 1, 0, -1):
        for i in range(last):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
    weights = np.linspace(0.0, 1.0, n)
    return np.sum(weights * a**2)


add(bubble_sorted, (V,), (POSITIVE,))


def synthetic_division(coefficients, root):
    """Divide a polynomial by (x - root) in place; the last entry is the remainder."""
    c = np.array(coefficients)
    for i in range(1, len(c)):
        c[i] += c[i - 1] * root
    remainder = c[-1]
    slope = c[0]
    for i in range(1, len(c) - 1):
        slope = slope * root + c[i]
    return remainder / slope


add(synthetic_division, ([1.0, -2.0, 0.5, 3.0], 1.3), (np.array([2.0, -1.0, 0.25]), 0.4))


def tridiagonal_from_its_diagonal(springs):
    sums = springs[:-1] + springs[1:]
    stiffness = np.diag(sums)
    for i in range(len(sums) - 1):
        stiffness[i, i + 1] = stiffness[i + 1, i] = -springs[i + 1]
    sums[0] = 2.0
    return np.sum(np.linalg.inv(stiffness) ** 2) + np.sum(sums * springs[1:])


add(tridiagonal_from_its_diagonal, (np.array([1.0, 2.0, 1.5, 0.8]),))


def kernel_matrix(points, length_scale, noise):
    n = len(points)
    K = np.zeros((n, n))
    for i in range(n):
        K[i, i] = 1.0 + noise**2
        for j in range(i):
            r2 = 0.0
            for k in range(points.shape[1]):
                r2 += (points[i, k] - points[j, k]) ** 2
            K[i, j] = K[j, i] = math.exp(-0.5 * r2 / length_scale**2)
    y = np.arange(1.0, n + 1)
    return y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1]


POINTS = np.array([[0.1, 0.4], [1.2, -0.3], [0.7, 0.9], [-0.5, 0.2]])
add(kernel_matrix, (POINTS, 0.8, 0.3))


def shift_register(xs, taps):
    state = np.zeros(len(taps))
    energy = 0.0
    for x in xs:
        state[1:] = state[:-1].copy()
        state[0] = x
        energy += (state @ taps) ** 2
        state[-1] *= 0.9
    return energy


add(shift_register, (V, np.array([0.5, -0.2, 0.1])))


def negative_targets(a):
    a[-1] = a[-2] * a[0]
    a[-3:] += a[-1]
    a[-len(a)] -= a[-4] ** 2
    return a.sum() + a[-1] * a[0]


add(negative_targets, (V,))


def targets_of_every_form(x, y):
    a = np.zeros(4)
    a[0] = b = x * y
    a[1], a[2] = b + x, a[0]
    (a[3], c), *rest = (y, x), 1.0, 2.0
    a[int(rest[0])] *= c
    a[...] = a * 2
    a[:] = a[::-1]
    first, *_, last = a
    a[1:3] = first, last
    return a @ np.array([1.0, -2.0, 3.0, 0.5]) + b


add(targets_of_every_form, (1.5, 0.7))


# Slices and whole arrays


def haar_lifting(signal):
    """One level after the other of a wavelet transform, in place."""
    s = signal.copy()
    n = len(s)
    while n > 1:
        even, odd = s[0:n:2].copy(), s[1:n:2].copy()
        odd -= even
        even += odd / 2
        s[: n // 2] = even
        s[n // 2 : n] = odd
        n //= 2
    s[1:] = np.tanh(s[1:])
    return np.sum(s**2) + s[0]


add(haar_lifting, (np.array([0.4, 1.1, -0.6, 0.8, 2.0, 1.5, -0.2, 0.1]),))


def strided_updates(a):
    a[::2] += a[1::2]
    a[1::2] *= a[::2]
    a[::-2] -= 0.5
    a[4:0:-1] /= 2.0
    return np.sum(a**2)


add(strided_updates, (V,))


def overlapping_slices(a):
    a[1:] += a[:-1]
    a[:-1] = a[1:] * a[:-1]
    a[2:] = a[:-2]
    return np.sum(a**2 * np.arange(6.0))


add(overlapping_slices, (V,), note="the right-hand side is what was there before")


def normalised_columns(A):
    A = A.copy()
    for j in range(A.shape[1]):
        A[:, j] /= np.sqrt(np.sum(A[:, j] ** 2))
    return np.sum(A @ A.T)


add(normalised_columns, (M,))


def standardised_in_place(X):
    X -= X.mean(axis=0)
    X /= np.sqrt((X**2).mean(axis=0) + 0.1)
    X **= 3
    X *= 0.5
    return np.sum(X[0] * X[1]) + X[-1, 0]


add(standardised_in_place, (POINTS,))


def double_centred(D):
    B = -0.5 * D**2
    B -= B.mean(axis=0, keepdims=True)
    B -= B.mean(axis=1, keepdims=True)
    return np.sum(np.diag(B)) + B[0, 1] ** 2


add(double_centred, (SQUARE,))


def volume_updates(vol):
    vol = vol.copy()
    vol[..., 0] = vol[..., 1] ** 2
    vol[1, :, ::2] += vol[0, :, ::2]
    vol[:, 1] -= vol[:, 2]
    for i in range(vol.shape[0]):
        vol[i] *= i + 1
        vol[i, 0, -1] = np.sum(vol[i, 1:])
    return np.sum(vol**2)


add(volume_updates, (np.arange(1.0, 13.0).reshape(2, 3, 2) / 7,))


def covariance_accumulated(samples, mean):
    d = samples.shape[1]
    C = np.zeros((d, d))
    for sample in samples:
        delta = sample - mean
        C += np.outer(delta, delta)
    C /= len(samples) - 1
    C[np.diag_indices(d)] += 0.01
    return np.linalg.det(C) + C[0, 1]


add(covariance_accumulated, (POINTS, np.array([0.3, 0.2])))


# Masks and arrays of indices


def leaky_clipped(a):
    a = 2 * a
    a[a < 0] *= 0.1
    a[a > 2] = 2 + 0.01 * (a[a > 2] - 2)
    mask = (a > 0.5) & (a < 1.9)
    a[mask] = a[mask] ** 2
    a[~mask] += 1.0
    return np.sum(a**2)


add(leaky_clipped, (V,), (W,))


def masked_rows(A, y):
    keep = y > 0
    A[~keep] = 0.0
    A[keep, 0] = y[keep]
    A[keep] += 1
    return np.sum(A**2 * np.array([1.0, 2.0]))


add(masked_rows, (POINTS, np.array([0.5, -1.0, 2.0, -0.1])))


def permuted_in_place(a):
    a[[0, 2]] = a[[2, 0]]
    order = np.array([3, 1, 4])
    a[order] *= a[order[::-1]]
    a[np.argsort(a)[:2]] = 0.5 * a[0]
    return a @ np.array([1.0, -1.0, 2.0, 0.5, 3.0, -2.0])


add(permuted_in_place, (V,))


def histogram_of_weights(x, weights, edges):
    counts = np.zeros(len(edges) - 1)
    bins = np.searchsorted(edges, x, side="right") - 1
    np.add.at(counts, bins, weights)
    density = counts / np.sum(counts)
    return -np.sum(density * np.log(density + 1e-3))


add(
    histogram_of_weights,
    (V, np.array([0.5, 1.0, 0.7, 0.3, 1.2, 0.9]), np.array([-2.0, 0.0, 1.0, 3.0])),
    wrt=(1,),
    note="bins are hit several times",
)


def cloud_in_cell(positions, masses, n):
    """Particles deposited on a periodic grid, and the energy of what they form."""
    rho = np.zeros(n)
    cell = np.floor(positions).astype(int)
    share = positions - cell
    np.add.at(rho, cell % n, masses * (1 - share))
    np.add.at(rho, (cell + 1) % n, masses * share)
    return 0.5 * np.sum((rho - rho.mean()) ** 2)


add(
    cloud_in_cell,
    (np.array([0.3, 1.7, 1.2, 3.6, 3.1]), np.array([1.0, 0.5, 2.0, 0.7, 1.1]), 4),
    wrt=(0, 1),
)


def group_means(values, groups):
    sums = np.zeros(3)
    counts = np.zeros(3, dtype=int)
    for g, v in zip(groups, values):
        sums[g] += v
        counts[g] += 1
    means = sums / counts
    return np.sum((values - means[groups]) ** 2)


add(group_means, (V, np.array([0, 1, 0, 2, 2, 1])), wrt=(0,))


def spring_assembly(stiffness, lengths, loads):
    """Bars in a row: element matrices added into a global one, ends clamped."""
    n = len(stiffness) + 1
    K = np.zeros((n, n))
    for e, (k, length) in enumerate(zip(stiffness, lengths)):
        dofs = np.array([e, e + 1])
        K[np.ix_(dofs, dofs)] += k / length * np.array([[1.0, -1.0], [-1.0, 1.0]])
    K[0, :] = 0.0
    K[0, 0] = 1.0
    f = np.zeros(n)
    f[1:] = loads
    u = np.linalg.solve(K, f)
    return f @ u


add(
    spring_assembly,
    (np.array([2.0, 1.5, 3.0]), np.array([1.0, 0.8, 1.2]), np.array([0.1, 0.4, 1.0])),
)


def put_and_putmask(a, x):
    np.put(a, [0, 3], [x, 2 * x])
    np.putmask(a, a < 0, a**2)
    np.copyto(a[4:], np.array([7.0, 8.0]) * x)
    return np.sum(a**2)


add(put_and_putmask, (V, 0.7))


# Functions that write into what they are given


def output_buffers(a, b):
    work = np.empty_like(a)
    np.multiply(a, b, out=work)
    np.sin(work, out=work)
    np.add(work, a, out=work)
    np.exp(-a, out=a)
    total = np.sum(work * a)
    np.subtract(work, 1.0, work)
    np.maximum(work, b, out=b)
    return total + np.sum(b**2)


add(output_buffers, (V, W))


def guarded_division(a, b):
    ratio = np.full_like(a, -1.0)
    np.divide(a, b, out=ratio, where=np.abs(b) > 0.35)
    np.copyto(ratio, a**2, where=b < 0)
    return np.sum(ratio**2)


add(guarded_division, (V, W))


def cumulative_out(a):
    sums = np.zeros(len(a) + 1)
    np.cumsum(a, out=sums[1:])
    windows = sums[2:] - sums[:-2]
    np.clip(windows, -0.5, 1.0, out=windows)
    return np.sum(windows**2) + sums[-1]


add(cumulative_out, (V,))


def filled_buffer(batches, weights):
    gradient = np.empty(len(weights))
    norm = 0.0
    for x, y in batches:
        gradient.fill(0.0)
        for row, target in zip(x, y):
            miss = row @ weights - target
            gradient += miss * row
        norm += np.sqrt(np.sum(gradient**2))
    return norm


BATCHES = [
    (np.array([[1.0, 0.5], [0.2, -1.0]]), np.array([0.3, 0.8])),
    (np.array([[0.7, -0.4], [1.1, 0.9]]), np.array([-0.5, 1.2])),
]
add(filled_buffer, (BATCHES, np.array([0.4, -0.6])))


def trimmed_mean(sample, cut):
    sample.sort()
    inside = sample[cut:-cut]
    spread = sample[-1] - sample[0]
    return inside.mean() / spread


add(trimmed_mean, (V, 1), wrt=(0,))


def regularised(A, ridge):
    B = A @ A.T
    np.fill_diagonal(B, B.diagonal() + ridge)
    B.flat[:: len(B) + 1] += ridge
    np.fill_diagonal(A, 0.0)
    return np.linalg.det(B) + np.sum(A)


add(regularised, (SQUARE, 0.1))


# One memory under several names


def row_view(A):
    row = A[1]
    row *= 2
    A[1, 0] = row[1] ** 2
    column = A[:, 2]
    column += row[0]
    row[2] -= A[0, 2]
    return np.sum(A**2) + row @ row


add(row_view, (M,), (SQUARE,))


def flat_view(grid):
    flat = grid.reshape(-1)
    for k in range(len(flat) - 1):
        flat[k + 1] += 0.5 * flat[k]
    grid[0] += grid[-1]
    same = grid.ravel()
    same[0] = flat[2] * 3
    return np.sum(flat**2) + grid[0, 0]


add(flat_view, (M,))


def transposed_view(A):
    B = A.T
    B[0] = B[1] * B[2]
    A[0] -= 1.0
    np.transpose(A)[1, 1] = A[0, 0]
    return np.sum(B @ A)


add(transposed_view, (SQUARE,))


def views_and_copies(A):
    view = A[:, ::2]
    copied = A[:, [0, 2]]
    flat_copy = A.T.ravel()
    view += 1.0
    copied *= 3.0
    flat_copy[:] = 0.0
    return np.sum(A**2) + np.sum(copied * view) + flat_copy.sum()


add(views_and_copies, (M,), note="a[:, ::2] shares memory, a[:, [0, 2]] and A.T.ravel() do not")


def view_of_a_view(a):
    inner = a[1:5]
    core = inner[1:3]
    core[0] = inner[0] * a[0]
    inner[2:] *= core[0]
    a += 1
    return core @ inner[:2] + a[3] * inner[2]


add(view_of_a_view, (V,))


def aliased_then_rebound(a):
    b = a
    b += 1.0
    c = a
    c = c * 2
    c -= a
    a *= b
    return np.sum(a * c) + b[0]


add(aliased_then_rebound, (V,), note="`b += 1` changes a, `c = c * 2` does not")


def list_of_rows(A):
    rows = [A[i] for i in range(len(A))]
    rows[0] *= 2.0
    rows[-1][0] = rows[0] @ rows[1]
    first, *others = rows
    first += others[0]
    return np.sum(A**2)


add(list_of_rows, (SQUARE,))


def swapped_rows(A):
    A = A.copy()
    p = int(np.argmax(np.abs(A[:, 1])))
    A[[0, p]] = A[[p, 0]]
    A[0], A[2] = A[2].copy(), A[0].copy()
    A[:, [0, 1]] = A[:, [1, 0]]
    return A[0] @ np.array([1.0, 2.0, 3.0]) + A[2, 0] * A[1, 1]


add(swapped_rows, (SQUARE,), (SQUARE.T.copy(),))


def scale_to_unit(v):
    v /= math.sqrt(np.sum(v**2))


def remove_mean(v, weight=1.0):
    v -= weight * v.mean()
    return v


def helper_mutates_its_argument(A, weight):
    for row in A:
        scale_to_unit(row)
    same = remove_mean(A[:, 0], weight)
    same[0] += 1.0
    return np.sum(A[:, 0] * A[:, 1]) + np.sum(A**3)


add(helper_mutates_its_argument, (POINTS, 0.7))


def history_of_one_array(x, n):
    trace, snapshots = [], []
    for _ in range(n):
        x[:] = np.sin(x) + 0.1
        trace.append(x)
        snapshots.append(x.copy())
    return sum(t[0] for t in trace) + sum(s[1] for s in snapshots)


add(history_of_one_array, (V[:3], 3), wrt=(0,), note="the trace holds one array three times")


def returned_then_changed(a):
    def make(scale):
        made = a * scale
        made[0] = scale
        return made

    first = make(2.0)
    second = make(a[1])
    first[1:] -= second[1:]
    second[0] = first[1]
    return first @ second, second


add(returned_then_changed, (V,))


def array_from_list_is_a_copy(x, y):
    items = [x, y, x * y]
    a = np.array(items)
    items[0] = 10.0 * y
    a[1] = a[0] + items[0]
    b = np.asarray(a)
    b[2] *= 2
    c = a.astype(float)
    c[0] = 0.0
    return a @ c + items[0] + b.sum()


add(array_from_list_is_a_copy, (1.5, 0.7))


def empty_arrays(a, n):
    nothing = np.empty(0)
    nothing += 1.0
    a[n:] *= 2.0
    a[len(a) :] = 5.0
    for i in range(n, 0):
        a[i] = 0.0
    part = a[:n]
    part -= np.sum(nothing)
    return np.sum(a) ** 2 + np.sum(part) + nothing.sum()


add(empty_arrays, (V, 0), (V, 6), (V, 2), wrt=(0,))


def relaxed_until_flat(a, tolerance):
    sweeps = 0
    while np.max(np.abs(np.diff(a))) > tolerance:
        a[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[2:] + a[:-2])
        sweeps += 1
        if sweeps > 12:
            break
    else:
        a[0] *= 2
    return np.sum(a**2)


add(relaxed_until_flat, (V, 0.9), (V, 0.0), wrt=(0,))


def branch_writes(a, threshold):
    buffer = np.zeros(3)
    if a[0] > threshold:
        buffer[0] = a[0] ** 2
        target = buffer
    else:
        a[1] = threshold * a[2]
        target = a
    target[1] += 1.5 * threshold
    target *= a[2]
    return buffer.sum() + np.sum(a)


add(branch_writes, (V, 0.3), (V, 0.8))


def complex_spectrum(z, gain):
    z = z.copy()
    z[1:] *= gain * 1j
    z[0] = z[1].conjugate() * z[2]
    z -= z.mean()
    return np.sum(np.abs(z) ** 2)


add(complex_spectrum, (np.array([0.5 + 1j, -1.2 + 0.3j, 2.0 - 0.7j]), 0.8))


def group_by_two_names(values):
    state = {"all": values, "tail": values[3:]}
    state["tail"] += state["all"][0]
    state["all"][4] *= 2.0
    state["tail"] = state["tail"] * state["all"][:3]
    state["tail"][0] = 0.0
    return state["all"] @ state["all"] + np.sum(state["tail"])


add(group_by_two_names, (V,))


def wave_that_may_die_out(u, dt, n):
    """Two buffers that change places, what they held copied into a list, and two exits."""
    now, then, history = u.copy(), np.zeros_like(u), []
    while True:
        then[:] = now
        then[1:-1] += dt * np.diff(now, 2)
        now, then = then, now
        history.append(now.copy())
        if len(history) >= n:
            break
        if now.max() < 1e-9:
            return 0.0
    return np.sum(np.array(history) ** 2)


add(wave_that_may_die_out, (np.array([1.0, 2.0, 4.0, 3.0, 0.5]), 0.2, 4), wrt=(0, 1))


def rows_in_a_list(b, s):
    rows, pairs = list(b), tuple(b * s)
    b *= 2
    rows[0][1] = s
    first, second = pairs
    second += first
    weighted = sum((k + 1) * row.sum() for k, row in enumerate(rows))
    return weighted * b[0, 1] + pairs[1] @ pairs[0]


add(rows_in_a_list, (np.array([[1.0, 2.0], [3.0, 4.0]]), 0.7))
