"""Linear algebra and transforms written out by hand, on arrays and on lists of lists."""

import cmath
import math

import numpy as np

from .registry import add

A3 = np.array([[0.2, -1.4, 1.1], [2.9, 1.5, -0.3], [0.7, 0.4, 1.8]])
B3 = np.array([1.0, -2.0, 0.5])
SPD = np.array([[4.0, 1.2, -0.6], [1.2, 3.0, 0.8], [-0.6, 0.8, 2.5]])
TALL = np.array([[1.0, 0.5], [-0.3, 2.0], [0.8, -1.1], [0.4, 0.9]])


# Elimination


def gaussian_elimination(A, b):
    A, b = A.copy(), b.copy()
    n = len(b)
    for k in range(n - 1):
        p = k + int(np.argmax(np.abs(A[k:, k])))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


add(gaussian_elimination, (A3, B3), (SPD, B3))


def elimination_on_lists(A, b):
    n = len(A)
    M = [row[:] + [right] for row, right in zip(A, b)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(M[i][k]))
        M[k], M[pivot] = M[pivot], M[k]
        M[k] = [item / M[k][k] for item in M[k]]
        for i in range(n):
            if i != k:
                factor = M[i][k]
                for j in range(k, n + 1):
                    M[i][j] -= factor * M[k][j]
    return sum((i + 1) * row[n] for i, row in enumerate(M))


add(elimination_on_lists, (A3.tolist(), [1.0, -2.0, 0.5]))


def determinant(A):
    M = [list(row) for row in A]
    n, det = len(M), 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(M[i][k]) > abs(M[p][k]):
                p = i
        if M[p][k] == 0:
            return 0.0
        if p != k:
            M[p], M[k] = M[k], M[p]
            det = -det
        det *= M[k][k]
        for i in range(k + 1, n):
            ratio = M[i][k] / M[k][k]
            for j in range(k + 1, n):
                M[i][j] = M[i][j] - ratio * M[k][j]
    return det


add(determinant, (A3,), (SPD,), (SPD.tolist(),))


def determinant_by_minors(A):
    if len(A) == 1:
        return A[0][0]
    total = 0.0
    for j in range(len(A)):
        minor = []
        for row in A[1:]:
            minor.append(row[:j] + row[j + 1 :])
        total += (-1) ** j * A[0][j] * determinant_by_minors(minor)
    return total


add(determinant_by_minors, (A3.tolist(),))


def lu_decompose(A):
    """Doolittle's: L and U in one matrix, and the order of the rows."""
    LU = np.array(A)
    n = len(LU)
    order = list(range(n))
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(LU[i, k]))
        if p != k:
            LU[[k, p], :] = LU[[p, k], :]
            order[k], order[p] = order[p], order[k]
        for i in range(k + 1, n):
            LU[i, k] /= LU[k, k]
            for j in range(k + 1, n):
                LU[i, j] -= LU[i, k] * LU[k, j]
    return LU, order


def lu_solve(A, b):
    LU, order = lu_decompose(A)
    n = len(b)
    y = b[order]
    for i in range(1, n):
        y[i] -= LU[i, :i] @ y[:i]
    for i in reversed(range(n)):
        y[i] -= LU[i, i + 1 :] @ y[i + 1 :]
        y[i] /= LU[i, i]
    return y @ y + np.prod(np.diag(LU))


add(lu_solve, (A3, B3))


def inverse_in_place(A):
    """Gauss and Jordan without a second matrix."""
    A = A.copy()
    n = len(A)
    for p in range(n):
        pivot = A[p, p]
        A[p, p] = 1.0
        A[p] /= pivot
        for i in range(n):
            if i == p:
                continue
            factor = A[i, p]
            A[i, p] = 0.0
            A[i] -= factor * A[p]
    return A


add(inverse_in_place, (SPD,))


def cholesky_factor(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                if s <= 0:
                    raise ValueError("not positive definite")
                L[i, i] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def gaussian_log_density(x, mean, covariance):
    L = cholesky_factor(covariance)
    z = x - mean
    log_det = 0.0
    for i in range(len(z)):
        z[i] = (z[i] - L[i, :i] @ z[:i]) / L[i, i]
        log_det += 2 * math.log(L[i, i])
    return -0.5 * (z @ z + log_det + len(x) * math.log(2 * math.pi))


add(gaussian_log_density, (B3, np.array([0.3, -0.4, 0.1]), SPD))


def ldl_without_square_roots(A):
    n = len(A)
    L = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    D = [0.0] * n
    for j in range(n):
        D[j] = A[j][j]
        for k in range(j):
            D[j] -= L[j][k] ** 2 * D[k]
        for i in range(j + 1, n):
            L[i][j] = A[i][j]
            for k in range(j):
                L[i][j] -= L[i][k] * L[j][k] * D[k]
            L[i][j] /= D[j]
    return sum(math.log(d) for d in D) + L[2][0] * L[2][1]


add(ldl_without_square_roots, (SPD,), (SPD.tolist(),))


# Orthogonalisation


def gram_schmidt(A):
    """Modified Gram–Schmidt: Q overwrites a copy of A."""
    Q = A.copy()
    columns = A.shape[1]
    R = np.zeros((columns, columns))
    for j in range(columns):
        for k in range(j):
            R[k, j] = Q[:, k] @ Q[:, j]
            Q[:, j] -= R[k, j] * Q[:, k]
        R[j, j] = np.linalg.norm(Q[:, j])
        Q[:, j] /= R[j, j]
    return Q, R


def least_squares_by_qr(A, b):
    Q, R = gram_schmidt(A)
    x = Q.T @ b
    for i in range(len(x) - 1, -1, -1):
        for j in range(i + 1, len(x)):
            x[i] -= R[i, j] * x[j]
        x[i] /= R[i, i]
    residual = A @ x - b
    return residual @ residual + x[0]


add(least_squares_by_qr, (TALL, np.array([0.5, 1.0, -0.7, 0.2])))


def householder_triangle(A):
    R = np.array(A)
    rows, columns = R.shape
    for k in range(columns):
        v = R[k:, k].copy()
        v[0] += math.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
    return np.sum(np.abs(R[0])) + np.abs(R[1, 1])


add(householder_triangle, (TALL,))


def givens_rotations(A):
    R = A.copy()
    rows, columns = R.shape
    for j in range(columns):
        for i in range(rows - 1, j, -1):
            a, b = R[i - 1, j], R[i, j]
            r = math.hypot(a, b)
            if r == 0.0:
                continue
            c, s = a / r, b / r
            upper, lower = R[i - 1].copy(), R[i].copy()
            R[i - 1] = c * upper + s * lower
            R[i] = c * lower - s * upper
    return R[0] @ np.array([1.0, 2.0]) + R[1, 1] ** 3


add(givens_rotations, (TALL,))


def jacobi_eigenvalues(A, sweeps):
    A = A.copy()
    n = len(A)
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-14:
                    continue
                theta = 0.5 * (A[q, q] - A[p, p]) / A[p, q]
                t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta**2 + 1))
                c = 1 / math.sqrt(t * t + 1)
                s = t * c
                for k in range(n):
                    akp, akq = A[k, p], A[k, q]
                    A[k, p], A[k, q] = c * akp - s * akq, s * akp + c * akq
                for k in range(n):
                    apk, aqk = A[p, k], A[q, k]
                    A[p, k], A[q, k] = c * apk - s * aqk, s * apk + c * aqk
    return np.sort(np.diag(A)) @ np.array([1.0, -2.0, 3.0])


add(jacobi_eigenvalues, (SPD, 3), wrt=(0,))


def power_iteration(A, n):
    v = np.ones(len(A))
    for _ in range(n):
        v[:] = A @ v
        v /= np.sqrt(v @ v)
    return v @ A @ v


add(power_iteration, (SPD, 12), wrt=(0,))


def deflated_eigenvalues(A):
    A = A.copy()
    values = []
    for _ in range(2):
        v = np.array([1.0, 0.5, -0.3])
        for _ in range(6):
            w = A @ v
            v = w / np.linalg.norm(w)
        values.append(v @ A @ v)
        A -= values[-1] * np.outer(v, v)
    return values


add(deflated_eigenvalues, (SPD,))


def qr_algorithm(A, n):
    T = A.copy()
    for _ in range(n):
        shift = T[-1, -1]
        T[np.diag_indices(len(T))] -= shift
        Q, R = gram_schmidt(T)
        T = R @ Q
        T[np.diag_indices(len(T))] += shift
    return T[-1, -1]


add(qr_algorithm, (SPD, 3), wrt=(0,))


# Krylov spaces


def conjugate_gradients(A, b, tolerance=1e-20):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rs = r @ r
    for _ in range(len(b)):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if new < tolerance:
            break
        p *= new / rs
        p += r
        rs = new
    return x @ b


add(conjugate_gradients, (SPD, B3), (np.eye(3) * 2.0, B3), wrt=(0, 1), rel=1e-9, smooth=False)


def conjugate_gradients_on_lists(A, b):
    def apply(v):
        return [sum(a * x for a, x in zip(row, v)) for row in A]

    def dot(u, v):
        return sum(a * c for a, c in zip(u, v))

    x = [0.0] * len(b)
    r = list(b)
    p = list(b)
    for _ in range(2):
        Ap = apply(p)
        alpha = dot(r, r) / dot(p, Ap)
        before = dot(r, r)
        for i in range(len(x)):
            x[i] += alpha * p[i]
            r[i] -= alpha * Ap[i]
        beta = dot(r, r) / before
        for i in range(len(p)):
            p[i] = r[i] + beta * p[i]
    return dot(x, x) + dot(r, b)


add(conjugate_gradients_on_lists, (SPD.tolist(), [1.0, -2.0, 0.5]))


def lanczos(A, start, m):
    n = len(start)
    V = np.zeros((m + 1, n))
    T = np.zeros((m, m))
    V[0] = start / np.linalg.norm(start)
    for j in range(m):
        w = A @ V[j]
        if j > 0:
            w -= T[j - 1, j] * V[j - 1]
        T[j, j] = w @ V[j]
        w -= T[j, j] * V[j]
        if j + 1 < m:
            T[j, j + 1] = T[j + 1, j] = np.linalg.norm(w)
            V[j + 1] = w / T[j, j + 1]
    return np.trace(T @ T) + T[0, 1]


add(lanczos, (SPD, B3, 2), wrt=(0, 1))


def arnoldi_residual(A, b, m):
    Q = np.zeros((len(b), m + 1))
    H = np.zeros((m + 1, m))
    Q[:, 0] = b / np.linalg.norm(b)
    for k in range(m):
        v = A @ Q[:, k]
        for j in range(k + 1):
            H[j, k] = Q[:, j] @ v
            v -= H[j, k] * Q[:, j]
        H[k + 1, k] = np.linalg.norm(v)
        Q[:, k + 1] = v / H[k + 1, k]
    return H[m, m - 1] * abs(H[0, 0])


add(arnoldi_residual, (A3, B3, 2), wrt=(0, 1))


# Transforms, exponentials, structured systems


def fft_recursive(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft_recursive(x[0::2]), fft_recursive(x[1::2])
    out = [0] * n
    for k in range(n // 2):
        twiddled = cmath.exp(-2j * math.pi * k / n) * odd[k]
        out[k] = even[k] + twiddled
        out[k + n // 2] = even[k] - twiddled
    return out


def power_spectrum(signal, weights):
    spectrum = fft_recursive([complex(s) for s in signal])
    total = 0.0
    for w, z in zip(weights, spectrum):
        total += w * abs(z) ** 2
    return total


add(power_spectrum, ([0.5, 1.2, -0.3, 0.8], [1.0, 2.0, 0.5, -1.0]))


def fft_iterative(signal):
    n = len(signal)
    re, im = np.array(signal), np.zeros(n)
    j = 0
    for i in range(1, n):  # bit reversal
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
    size = 2
    while size <= n:
        for start in range(0, n, size):
            for k in range(size // 2):
                angle = -2 * math.pi * k / size
                c, s = math.cos(angle), math.sin(angle)
                a, b = start + k, start + k + size // 2
                tr = c * re[b] - s * im[b]
                ti = c * im[b] + s * re[b]
                re[b], im[b] = re[a] - tr, im[a] - ti
                re[a] += tr
                im[a] += ti
        size *= 2
    return np.sum((re**2 + im**2) * np.arange(n)) + re[1] * im[2]


add(
    fft_iterative,
    (np.array([0.5, 1.2, -0.3, 0.8, 0.1, -0.9, 1.4, 0.6]),),
    (np.array([0.5, 1.2, -0.3, 0.8]),),
)


def fft_in_place_complex(z):
    """Decimation in frequency on a complex array; the order of the result does not matter here."""
    z = z.copy()
    half = len(z) // 2
    while half:
        for start in range(0, len(z), 2 * half):
            top = z[start : start + half]
            bottom = z[start + half : start + 2 * half]
            difference = top - bottom
            top += bottom
            bottom[:] = difference * np.exp(-1j * math.pi * np.arange(half) / half)
        half //= 2
    return np.sum(np.abs(z) ** 4)


add(fft_in_place_complex, (np.array([0.5 + 0.1j, 1.2 - 0.4j, -0.3 + 0.8j, 0.8 + 0.2j]),))


def matrix_exponential(A, terms):
    """Scaling and squaring with Taylor's series."""
    squarings = 0
    norm = np.max(np.sum(np.abs(A), axis=1))
    while norm > 0.5:
        norm /= 2
        squarings += 1
    A = A / 2**squarings
    E = np.eye(len(A))
    term = np.eye(len(A))
    for k in range(1, terms):
        term = term @ A / k
        E += term
    for _ in range(squarings):
        E[:] = E @ E
    return E


add(matrix_exponential, (A3, 8), (0.1 * A3, 8), wrt=(0,))


def matrix_square_root(A):
    """Denman and Beavers."""
    Y, Z = A.copy(), np.eye(len(A))
    for _ in range(4):
        Y_new = 0.5 * (Y + np.linalg.inv(Z))
        Z[:] = 0.5 * (Z + np.linalg.inv(Y))
        Y[:] = Y_new
    return np.sum(Y * np.arange(9.0).reshape(3, 3))


add(matrix_square_root, (SPD,))


def levinson(r, y):
    """Solve a symmetric Toeplitz system in O(n²)."""
    n = len(y)
    x = np.zeros(n)
    f = np.zeros(n)
    f[0] = 1.0 / r[0]
    x[0] = y[0] / r[0]
    for m in range(1, n):
        error = 0.0
        miss = 0.0
        for i in range(m):
            error += r[m - i] * f[i]
            miss += r[m - i] * x[i]
        forward = f[: m + 1].copy()
        backward = forward[::-1].copy()
        scale = 1.0 / (1.0 - error**2)
        f[: m + 1] = scale * (forward - error * backward)
        x[: m + 1] += (y[m] - miss) * f[: m + 1][::-1]
    return x


add(levinson, (np.array([3.0, 1.2, -0.5, 0.3]), np.array([1.0, 0.4, -0.8, 0.6])))


def durbin_reflections(r):
    a = []
    error = r[0]
    for k in range(1, len(r)):
        reflection = r[k] - sum(a[j] * r[k - 1 - j] for j in range(len(a)))
        reflection /= error
        a = [a[j] - reflection * a[-1 - j] for j in range(len(a))]
        a.append(reflection)
        error *= 1 - reflection**2
    return error, a


add(durbin_reflections, ([2.0, 1.1, 0.3, -0.4],))


def banded_product(diagonals, x):
    """A band matrix kept by diagonals, times a vector, twice."""
    n = len(x)
    for _ in range(2):
        y = np.zeros(n)
        for offset, diagonal in diagonals.items():
            if offset >= 0:
                y[: n - offset] += diagonal * x[offset:]
            else:
                y[-offset:] += diagonal * x[: n + offset]
        x = y
    return x @ x


add(
    banded_product,
    (
        {0: np.array([2.0, 1.5, 3.0]), 1: np.array([0.5, -0.4]), -1: np.array([0.3, 0.8])},
        B3,
    ),
)


def newton_inverse(A):
    X = A.T / (np.abs(A).sum(axis=0).max() * np.abs(A).sum(axis=1).max())
    identity2 = 2 * np.eye(len(A))
    for _ in range(5):
        X = X @ (identity2 - A @ X)
    X[0, 0] += np.trace(X)
    return np.sum(X)


add(newton_inverse, (SPD,))


def null_vector(A):
    """The eigenvector of the smallest eigenvalue by inverse iteration, signs fixed in place."""
    v = np.array([1.0, 1.0, 1.0])
    for _ in range(4):
        v = gaussian_elimination(A, v)
        v /= np.max(np.abs(v))
    if v[0] < 0:
        v *= -1
    return v[1] ** 2 + v[0] * v[2]


add(null_vector, (SPD,))
