"""Partial differential equations on grids that are updated in place, and the solvers they need."""

import math

import numpy as np

from .registry import add

BUMP = np.array([0.0, 0.4, 1.3, 0.9, 0.2, -0.3, 0.0])
PLATE = np.array([
    [0.0, 0.0, 0.0, 0.0],
    [0.0, 1.2, 0.4, 0.0],
    [0.0, -0.3, 0.8, 0.0],
    [0.0, 0.0, 0.0, 0.0],
])  # fmt: skip


# Diffusion


def heat_with_two_buffers(u, kappa, n):
    u = u.copy()
    new = np.zeros_like(u)
    for _ in range(n):
        new[0], new[-1] = u[0], u[-1]
        new[1:-1] = u[1:-1] + kappa * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, new = new, u
    return np.sum(u**2)


add(heat_with_two_buffers, (BUMP, 0.2, 4), (BUMP, 0.2, 1), (BUMP, 0.3, 0), wrt=(0, 1))


def heat_in_place(u, kappa, steps):
    """The old left neighbour is kept in a number, the grid is overwritten as the loop goes."""
    for _ in range(steps):
        left = u[0]
        for i in range(1, len(u) - 1):
            here = u[i]
            u[i] += kappa * (u[i + 1] - 2.0 * here + left)
            left = here
    return u


add(heat_in_place, (BUMP, 0.2, 3), wrt=(0, 1), note="returns its own argument")


def heat_on_lists(u, kappa, source):
    u = list(u)
    for step in range(4):
        new = [0.0] * len(u)
        new[0] = u[1]
        for i in range(1, len(u) - 1):
            new[i] = u[i] + kappa * (u[i - 1] - 2 * u[i] + u[i + 1])
        new[2] += source * math.exp(-0.5 * step)
        new[-1] = u[-1] * 0.9
        u = new
    return sum(x * x for x in u)


add(heat_on_lists, ([0.1, 0.5, 1.2, 0.3, -0.4], 0.15, 0.7), (BUMP, 0.1, 0.2))


def heated_plate(u, conductivity, hot):
    u = u.copy()
    u[0, :] = hot
    for _ in range(3):
        lap = np.zeros_like(u)
        lap[1:-1, 1:-1] = (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u += conductivity * lap
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
    return u[1:-1, 1:-1].mean() + u[2, 1] ** 2


add(heated_plate, (PLATE, 0.15, 1.5))


def heated_plate_by_loops(u, kappa, dt):
    rows, columns = u.shape
    for _ in range(2):
        new = u.copy()
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                new[i, j] += (
                    dt
                    * kappa[i, j]
                    * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j])
                )
        u[:, :] = new
    return np.sum(u * np.arange(16.0).reshape(4, 4))


add(heated_plate_by_loops, (PLATE, 0.5 + 0.1 * PLATE, 0.2))


def tridiagonal_solve(lower, diagonal, upper, right):
    """Thomas's algorithm; overwrites copies of the diagonal and the right-hand side."""
    n = len(diagonal)
    d, x = diagonal.copy(), right.copy()
    for i in range(1, n):
        w = lower[i - 1] / d[i - 1]
        d[i] -= w * upper[i - 1]
        x[i] -= w * x[i - 1]
    x[-1] /= d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i]
    return x


add(
    tridiagonal_solve,
    (
        np.array([-1.0, 0.5, -0.7]),
        np.array([4.0, 3.5, 5.0, 4.2]),
        np.array([0.9, -1.1, 0.3]),
        np.array([1.0, -2.0, 0.5, 3.0]),
    ),
)


def crank_nicolson(u, diffusivity, dt):
    n = len(u)
    r = 0.5 * diffusivity * dt
    off = np.full(n - 1, -r)
    main = np.full(n, 1 + 2 * r)
    main[0] = main[-1] = 1.0
    off_low, off_up = off.copy(), off.copy()
    off_low[-1] = off_up[0] = 0.0
    b = np.empty(n)
    for _ in range(3):
        b[0], b[-1] = 0.0, 0.0
        for i in range(1, n - 1):
            b[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = tridiagonal_solve(off_low, main, off_up, b)
    return np.sum(u**2)


add(crank_nicolson, (BUMP, 0.8, 0.5))


def nonlinear_conduction(T, beta, h):
    """Conductivity k(T) = 1 + βT, fluxes on faces, a radiating right end."""
    flux = np.zeros(len(T) + 1)
    for _ in range(4):
        k = 1.0 + beta * T
        flux[1:-1] = -0.5 * (k[1:] + k[:-1]) * (T[1:] - T[:-1])
        flux[0] = 0.3
        flux[-1] = h * T[-1] ** 4
        T -= 0.1 * (flux[1:] - flux[:-1])
    return T[-1] + flux[2]


add(nonlinear_conduction, (np.array([1.0, 0.8, 0.9, 1.1, 0.7]), 0.3, 0.2))


def gray_scott(u, v, feed, kill):
    for _ in range(3):
        lu = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        lv = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
        uvv = u * v * v
        u += 0.16 * lu - uvv + feed * (1 - u)
        v += 0.08 * lv + uvv - (feed + kill) * v
    return np.sum(v**2) + u[0, 1]


U0 = np.array([[1.0, 0.8, 0.9], [0.7, 0.5, 1.1], [0.95, 1.0, 0.6]])
add(gray_scott, (U0, 0.6 * (1.2 - U0), 0.035, 0.06))


def cahn_hilliard(c, gamma):
    mu = np.empty_like(c)
    n = len(c)
    for _ in range(3):
        for i in range(n):
            mu[i] = c[i] ** 3 - c[i] - gamma * (c[i - 1] - 2 * c[i] + c[(i + 1) % n])
        for i in range(n):
            c[i] += 0.05 * (mu[i - 1] - 2 * mu[i] + mu[(i + 1) % n])
    return np.sum((c**2 - 1) ** 2)


add(cahn_hilliard, (np.array([0.3, -0.2, 0.5, 0.1, -0.6]), 0.4))


# Waves and transport


def vibrating_string(shape, speed, n):
    old, now = shape.copy(), shape.copy()
    new = np.zeros_like(shape)
    for step in range(n):
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + speed**2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        new[0] = 0.1 * math.sin(step * speed)
        old, now, new = now, new, old
    return now[3] ** 2 + np.sum(old)


add(vibrating_string, (BUMP, 0.7, 5), wrt=(0, 1), note="three buffers take turns")


def upwind_advection(u, velocity, dt):
    n = len(u)
    for _ in range(4):
        old = u.copy()
        for i in range(n):
            if velocity[i] > 0:
                u[i] -= dt * velocity[i] * (old[i] - old[i - 1])
            else:
                u[i] -= dt * velocity[i] * (old[(i + 1) % n] - old[i])
    return np.sum(u**3)


add(upwind_advection, (BUMP[:5], np.array([0.8, 0.3, -0.5, -0.9, 0.4]), 0.4))


def minmod(a, b):
    if a * b <= 0:
        return 0.0
    return a if abs(a) < abs(b) else b


def burgers_with_limiter(u, dt):
    n = len(u)
    slope = np.zeros(n)
    flux = np.zeros(n)
    for _ in range(3):
        for i in range(n):
            slope[i] = minmod(u[i] - u[i - 1], u[(i + 1) % n] - u[i])
        for i in range(n):
            left = u[i - 1] + 0.5 * slope[i - 1]
            right = u[i] - 0.5 * slope[i]
            fastest = max(abs(left), abs(right))
            flux[i] = 0.25 * (left**2 + right**2) - 0.5 * fastest * (right - left)
        for i in range(n):
            u[i] -= dt * (flux[(i + 1) % n] - flux[i])
    return np.sum(u**2)


add(burgers_with_limiter, (np.array([0.3, 1.1, 0.9, -0.2, 0.4, 0.7]), 0.2))


def lax_wendroff(u, c):
    for _ in range(4):
        ahead, behind = np.roll(u, -1), np.roll(u, 1)
        u[:] = u - 0.5 * c * (ahead - behind) + 0.5 * c**2 * (ahead - 2 * u + behind)
    return u @ np.cos(np.arange(len(u)))


add(lax_wendroff, (BUMP, 0.6))


def shallow_water(h, q, dt):
    """MacCormack's scheme on a periodic channel: height and discharge."""
    g = 9.81
    state = np.stack([h, q])
    flux = np.empty_like(state)
    predicted = np.empty_like(state)

    def fill_flux(s):
        flux[0] = s[1]
        flux[1] = s[1] ** 2 / s[0] + 0.5 * g * s[0] ** 2

    for _ in range(2):
        fill_flux(state)
        predicted[:] = state - dt * (np.roll(flux, -1, axis=1) - flux)
        fill_flux(predicted)
        state += predicted - dt * (flux - np.roll(flux, 1, axis=1))
        state *= 0.5
    return np.sum(state[1] ** 2 / state[0]) + g * np.sum(state[0] ** 2)


add(
    shallow_water,
    (np.array([1.0, 1.2, 1.1, 0.9]), np.array([0.1, 0.3, -0.2, 0.05]), 0.05),
)


def yee_cavity(E, H, courant, loss):
    energy = 0.0
    for step in range(5):
        H += courant * (E[1:] - E[:-1])
        E[1:-1] += courant * (H[1:] - H[:-1])
        E[2] += math.exp(-((step - 2.0) ** 2) / 2)
        E *= 1 - loss
        energy += 0.5 * (E @ E + H @ H)
    return energy


add(yee_cavity, (BUMP, 0.5 * BUMP[1:] + 0.1, 0.5, 0.02))


def quantum_packet(psi, potential, dt):
    """Real and imaginary parts leap over each other (Visscher's scheme)."""
    re, im = psi.real.copy(), psi.imag.copy()
    for _ in range(4):
        re[1:-1] += dt * (-0.5 * (im[2:] - 2 * im[1:-1] + im[:-2]) + potential[1:-1] * im[1:-1])
        im[1:-1] -= dt * (-0.5 * (re[2:] - 2 * re[1:-1] + re[:-2]) + potential[1:-1] * re[1:-1])
    density = re**2 + im**2
    return density @ np.arange(len(density))


PACKET = np.array([0.1 + 0.2j, 0.5 - 0.1j, 0.9 + 0.4j, 0.3 + 0.6j, -0.1 + 0.1j])
add(quantum_packet, (PACKET, np.array([0.0, 0.3, 0.1, -0.2, 0.5]), 0.1))


def schrodinger_step(psi, potential, dt):
    psi = psi.copy()
    for _ in range(2):
        kinetic = np.zeros_like(psi)
        kinetic[1:-1] = -0.5 * (psi[2:] - 2 * psi[1:-1] + psi[:-2])
        kinetic += potential * psi
        psi -= 1j * dt * kinetic
        psi /= np.sqrt(np.sum(np.abs(psi) ** 2))
    return np.abs(psi[2]) ** 2


add(schrodinger_step, (PACKET, np.array([0.0, 0.3, 0.1, -0.2, 0.5]), 0.1))


def lattice_boltzmann(density, velocity, relaxation):
    """One dimension, three velocities: collide, stream, bounce back."""
    weights = np.array([2 / 3, 1 / 6, 1 / 6])
    e = np.array([0.0, 1.0, -1.0])
    f = np.empty((3, len(density)))
    for k in range(3):
        f[k] = weights[k] * density * (1 + 3 * e[k] * velocity)
    for _ in range(3):
        rho = f.sum(axis=0)
        u = (f[1] - f[2]) / rho
        for k in range(3):
            eu = e[k] * u
            feq = weights[k] * rho * (1 + 3 * eu + 4.5 * eu**2 - 1.5 * u**2)
            f[k] += (feq - f[k]) / relaxation
        out_right, out_left = f[1, -1], f[2, 0]
        f[1, 1:] = f[1, :-1].copy()
        f[2, :-1] = f[2, 1:].copy()
        f[1, 0], f[2, -1] = out_left, out_right
    return np.sum(f[1] * f[2]) + f[0, 0] ** 2


add(
    lattice_boltzmann,
    (np.array([1.0, 1.1, 0.9, 1.05]), np.array([0.05, -0.02, 0.1, 0.0]), 0.8),
)


def fokker_planck(p, drift, noise):
    """Finite volumes with no flux through the ends: probability is kept."""
    n = len(p)
    p /= p.sum()
    for _ in range(5):
        flux = [0.0] * (n + 1)
        for i in range(1, n):
            x = i - n / 2
            flux[i] = -drift * x * 0.5 * (p[i] + p[i - 1]) - noise**2 / 2 * (p[i] - p[i - 1])
        for i in range(n):
            p[i] -= 0.1 * (flux[i + 1] - flux[i])
    mean = sum(i * p[i] for i in range(n))
    return sum(p[i] * (i - mean) ** 2 for i in range(n))


add(fokker_planck, (np.array([0.2, 0.9, 0.4, 1.1, 0.3]), 0.6, 0.8))


# Iterations


def gauss_seidel(u, f):
    for sweep in range(6):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
    return np.sum(u * f) + u[1]


add(gauss_seidel, (BUMP + 0.3, np.array([0.0, 1.0, -0.5, 0.8, 0.2, 0.4, 0.0])))


def successive_overrelaxation(u, f, omega):
    rows, columns = u.shape
    for _ in range(3):
        residual = 0.0
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                change = (
                    0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
                    - u[i, j]
                )
                u[i, j] += omega * change
                residual += change**2
    return residual + np.sum(u**2)


add(successive_overrelaxation, (PLATE + 0.1, PLATE**2, 1.3))


def red_black_sweeps(u, f, omega):
    for _ in range(4):
        for start in (1, 2):
            here = u[start:-1:2]
            here += omega * (
                0.5 * (u[start - 1 : -2 : 2] + u[start + 1 :: 2] + f[start:-1:2]) - here
            )
    return u @ u


add(red_black_sweeps, (BUMP + 0.2, np.array([0.0, 1.0, -0.5, 0.8, 0.2, 0.4, 0.0]), 1.2))


def jacobi_until_converged(A, b, tolerance):
    D = np.diag(A).copy()
    R = A.copy()
    np.fill_diagonal(R, 0.0)
    x = np.zeros(len(b))
    new = np.ones(len(b))
    sweeps = 0
    while np.max(np.abs(new - x)) > tolerance and sweeps < 9:
        x[:] = new
        new = (b - R @ x) / D
        sweeps += 1
    return new @ b


DOMINANT = np.array([[4.0, -1.0, 0.5], [0.3, 5.0, -1.2], [-0.7, 0.2, 3.5]])
add(
    jacobi_until_converged,
    (DOMINANT, np.array([1.0, 2.0, -0.5]), 1e-3),
    (DOMINANT, np.array([1.0, 2.0, -0.5]), 1e-30),
    wrt=(0, 1),
)


def smooth_grid(u, f, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])


def multigrid_cycle(u, f):
    """A V-cycle for -u'' = f; f carries h²."""
    n = len(u) - 1
    if n == 2:
        u[1] = 0.5 * (u[0] + u[2] + f[1])
        return u
    smooth_grid(u, f, 2)
    residual = np.zeros_like(u)
    residual[1:-1] = f[1:-1] - (2 * u[1:-1] - u[2:] - u[:-2])
    coarse_f = np.zeros(n // 2 + 1)
    coarse_f[1:-1] = residual[1:-3:2] + 2 * residual[2:-2:2] + residual[3:-1:2]
    coarse = multigrid_cycle(np.zeros(n // 2 + 1), coarse_f)
    u[::2] += coarse
    u[1::2] += 0.5 * (coarse[1:] + coarse[:-1])
    smooth_grid(u, f, 1)
    return u


def multigrid(u, f):
    for _ in range(2):
        multigrid_cycle(u, f)
    return np.sum(u**2)


add(
    multigrid,
    (np.linspace(0.0, 1.0, 9), np.array([0.0, 0.4, 1.1, -0.3, 0.6, 0.2, -0.9, 0.5, 0.0])),
)


def fast_sweeping(speed):
    """Arrival times from the left end: |∇T| = 1 / speed, swept in both directions."""
    rows, columns = speed.shape
    T = np.full((rows, columns), 1e3)
    T[0, 0] = 0.0
    for down in (1, -1):
        for i in range(rows)[::down]:
            for j in range(columns)[::down]:
                a = min(T[i - 1, j] if i > 0 else 1e3, T[i + 1, j] if i < rows - 1 else 1e3)
                b = min(T[i, j - 1] if j > 0 else 1e3, T[i, j + 1] if j < columns - 1 else 1e3)
                cost = 1.0 / speed[i, j]
                if abs(a - b) >= cost:
                    candidate = min(a, b) + cost
                else:
                    candidate = 0.5 * (a + b + math.sqrt(2 * cost**2 - (a - b) ** 2))
                T[i, j] = min(T[i, j], candidate)
    return T[-1, -1] + T[0, -1]


add(fast_sweeping, (np.array([[1.0, 1.2, 0.8], [0.9, 1.5, 1.1]]),))


def forest_fire(fuel, wind, spread):
    """A cellular update: every cell burns what its neighbours set alight."""
    rows, columns = fuel.shape
    burning = np.zeros_like(fuel)
    burning[0, 1] = 1.0
    burnt = 0.0
    for _ in range(3):
        heat = np.zeros_like(fuel)
        for i in range(rows):
            for j in range(columns):
                for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                    if 0 <= i + di < rows and 0 <= j + dj < columns:
                        heat[i + di, j + dj] += burning[i, j] * spread * (1 + wind * dj)
        catching = 1 - np.exp(-heat)
        burning[:] = fuel * catching
        fuel *= 1 - catching
        burnt += burning.sum()
    return burnt


add(forest_fire, (np.array([[0.8, 1.0, 0.6], [0.9, 0.7, 1.1]]), 0.3, 0.9))


def alternating_directions(u, r):
    """One implicit sweep along rows, one along columns."""
    n = len(u)
    lower = np.full(n - 1, -r)
    middle = np.full(n, 1 + 2 * r)
    for i in range(n):
        u[i, :] = tridiagonal_solve(lower, middle, lower, u[i])
    for j in range(n):
        u[:, j] = tridiagonal_solve(lower, middle, lower, u[:, j])
    return np.sum(u**2)


add(alternating_directions, (PLATE + 0.2, 0.3))


def porous_column(head, conductivity, rain):
    """Richards' equation, roughly: the top fills up, what is above saturation runs off."""
    runoff = 0.0
    n = len(head)
    for day in range(4):
        flow = [0.0] * (n - 1)
        for i in range(n - 1):
            k = conductivity * min(head[i], 1.0) ** 2
            flow[i] = k * (0.2 + head[i] - head[i + 1])
        head[0] += rain[day % len(rain)]
        for i in range(n - 1):
            head[i] -= flow[i]
            head[i + 1] += flow[i]
        if head[0] > 1.0:
            runoff += head[0] - 1.0
            head[0] = 1.0
    return runoff + head[-1] ** 2


add(porous_column, (np.array([0.6, 0.5, 0.3, 0.2]), 0.4, [0.5, 0.1, 0.45]))
