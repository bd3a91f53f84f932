"""Models of engineering and of the sciences, as their authors program them: loops, tables, events."""

import math

import numpy as np

from .registry import add

# Differential equations with events, rejected steps, inner solvers


def fehlberg(slope, y, t, end, tolerance):
    """Runge, Kutta and Fehlberg 4(5): steps are rejected and tried again."""
    h, accepted, rejected = (end - t) / 4, 0, 0
    while t < end - 1e-12:
        h = min(h, end - t)
        k1 = slope(t, y)
        k2 = slope(t + h / 4, y + h * k1 / 4)
        k3 = slope(t + 3 * h / 8, y + h * (3 * k1 + 9 * k2) / 32)
        k4 = slope(t + 12 * h / 13, y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
        k5 = slope(t + h, y + h * (439 * k1 / 216 - 8 * k2 + 3680 * k3 / 513 - 845 * k4 / 4104))
        k6 = slope(
            t + h / 2,
            y + h * (-8 * k1 / 27 + 2 * k2 - 3544 * k3 / 2565 + 1859 * k4 / 4104 - 11 * k5 / 40),
        )
        error = abs(h * (k1 / 360 - 128 * k3 / 4275 - 2197 * k4 / 75240 + k5 / 50 + 2 * k6 / 55))
        if error <= tolerance:
            t += h
            y += h * (
                16 * k1 / 135 + 6656 * k3 / 12825 + 28561 * k4 / 56430 - 9 * k5 / 50 + 2 * k6 / 55
            )
            accepted += 1
        else:
            rejected += 1
        h *= min(4.0, max(0.1, 0.84 * (tolerance / max(error, 1e-30)) ** 0.25))
    return y, accepted, rejected


def adaptive_relaxation(y0, stiffness):
    y, accepted, rejected = fehlberg(
        lambda t, y: -stiffness * (y - math.cos(t)), y0, 0.0, 1.5, 1e-5
    )
    return y + 0.01 * accepted + 0.001 * rejected


add(adaptive_relaxation, (2.0, 3.0), (0.5, 9.0), rel=1e-10, note="the steps depend on the values")


def robertson_kinetics(k1, k2, k3):
    """Stiff chemistry by implicit Euler; Newton's method in every step."""
    y = np.array([1.0, 0.0, 0.0])
    J = np.zeros((3, 3))
    for step in range(3):
        h = 0.1 * 3**step
        new = y.copy()
        for _ in range(6):
            a, b, c = new
            rate = np.array(
                [
                    -k1 * a + k3 * b * c,
                    k1 * a - k3 * b * c - k2 * b * b,
                    k2 * b * b,
                ]
            )
            J[0] = -k1, k3 * c, k3 * b
            J[1] = k1, -k3 * c - 2 * k2 * b, -k3 * b
            J[2, 1] = 2 * k2 * b
            residual = new - y - h * rate
            new -= np.linalg.solve(np.eye(3) - h * J, residual)
        y = new
    return y[2] + 10 * y[1]


add(robertson_kinetics, (0.04, 30.0, 10.0))


def brusselator(a, b, x, y):
    trace = []
    for _ in range(12):
        x, y = x + 0.1 * (a + x * x * y - (b + 1) * x), y + 0.1 * (b * x - x * x * y)
        trace.append((x, y))
    xs = [p[0] for p in trace]
    return max(xs) - min(xs) + trace[-1][1]


add(brusselator, (1.0, 2.5, 1.2, 1.0))


def pharmacokinetics(doses, absorption, exchange, elimination):
    """Gut, blood and tissue; doses at given hours, the area under the curve of the blood."""
    gut, blood, tissue = 0.0, 0.0, 0.0
    schedule = dict(doses)
    area, peak = 0.0, 0.0
    for hour in range(12):
        gut += schedule.pop(hour, 0.0)
        for _ in range(4):
            dt = 0.25
            absorbed = absorption * gut
            moved = exchange * (blood - tissue)
            gut -= dt * absorbed
            blood += dt * (absorbed - moved - elimination * blood / (1 + 0.1 * blood))
            tissue += dt * moved
            area += dt * blood
        if blood > peak:
            peak = blood
    assert not schedule
    return area + peak


def dosing(amounts, absorption, exchange, elimination):
    return pharmacokinetics(zip((0, 4, 8), amounts), absorption, exchange, elimination)


add(dosing, ([2.0, 1.5, 1.0], 0.8, 0.3, 0.25))


def pendulum_chain(angles, masses, lengths):
    """A hanging chain of links: a linear system for the accelerations in every step."""
    n = len(angles)
    speeds = np.zeros(n)
    for _ in range(3):
        A = np.zeros((n, n))
        right = np.zeros(n)
        for i in range(n):
            for j in range(n):
                below = np.sum(masses[max(i, j) :])
                A[i, j] = below * lengths[j] * np.cos(angles[i] - angles[j])
                right[i] -= below * lengths[j] * speeds[j] ** 2 * np.sin(angles[i] - angles[j])
            right[i] -= 9.81 * np.sum(masses[i:]) * np.sin(angles[i])
        speeds += 0.02 * np.linalg.solve(A, right)
        angles += 0.02 * speeds
    return np.sum(lengths * np.sin(angles)) + speeds @ speeds


add(
    pendulum_chain,
    (np.array([0.5, 0.9, 1.3]), np.array([1.0, 0.7, 0.4]), np.array([0.8, 0.6, 0.5])),
)


def hanging_cloth(stiffness, gravity, damping):
    """A net of springs, corners held."""
    rows = columns = 3
    x = np.zeros((rows, columns, 2))
    for i in range(rows):
        for j in range(columns):
            x[i, j] = j, -i
    v = np.zeros_like(x)
    springs = [((i, j), (i, j + 1)) for i in range(rows) for j in range(columns - 1)]
    springs += [((i, j), (i + 1, j)) for i in range(rows - 1) for j in range(columns)]
    for _ in range(4):
        force = np.zeros_like(x)
        force[..., 1] -= gravity
        for a, b in springs:
            delta = x[b] - x[a]
            length = np.sqrt(delta @ delta)
            pull = stiffness * (length - 0.9) * delta / length
            force[a] += pull
            force[b] -= pull
        force -= damping * v
        force[0, 0] = force[0, -1] = 0.0
        v += 0.1 * force
        x += 0.1 * v
    return np.sum(x[-1, :, 1]) + np.sum(v**2)


add(hanging_cloth, (3.0, 1.0, 0.2))


def lennard_jones(positions, box):
    """A periodic box, neighbours listed once, two steps of velocity Verlet."""
    n = len(positions)
    r = positions.copy()
    v = np.zeros_like(r)

    def forces():
        f = np.zeros_like(r)
        energy = 0.0
        for i, j in neighbours:
            d = r[i] - r[j]
            d -= box * np.round(d / box)
            s = 1.0 / (d @ d)
            s3 = s**3
            energy += 4 * (s3 * s3 - s3)
            pair = 24 * (2 * s3 * s3 - s3) * s * d
            f[i] += pair
            f[j] -= pair
        return f, energy

    neighbours = []
    for i in range(n):
        for j in range(i + 1, n):
            d = r[i] - r[j]
            d -= box * np.round(d / box)
            if np.sqrt(d @ d) < 2.0:
                neighbours.append((i, j))
    f, energy = forces()
    for _ in range(2):
        v += 0.005 * f
        r += 0.01 * v
        r %= box
        f, energy = forces()
        v += 0.005 * f
    return energy + 0.5 * np.sum(v**2)


add(
    lennard_jones,
    (np.array([[0.2, 0.3], [1.4, 0.2], [0.5, 1.5], [2.8, 2.9]]), 3.2),
    wrt=(0, 1),
    rel=1e-10,
)


def traffic(gaps, desired, headway):
    """The intelligent driver model on a ring road."""
    n = len(gaps)
    position = np.cumsum(gaps)
    road = position[-1]
    speed = np.full(n, 0.5 * desired)
    for _ in range(6):
        acceleration = np.empty(n)
        for i in range(n):
            ahead = (i + 1) % n
            gap = (position[ahead] - position[i]) % road - 2.0
            approach = speed[i] * (speed[i] - speed[ahead]) / (2 * math.sqrt(1.5 * 2.0))
            wanted = 2.0 + max(0.0, speed[i] * headway + approach)
            acceleration[i] = 1.5 * (1 - (speed[i] / desired) ** 4 - (wanted / gap) ** 2)
        speed += 0.3 * acceleration
        speed[speed < 0] = 0.0
        position += 0.3 * speed
    return speed.mean() - speed.std()


add(traffic, (np.array([12.0, 9.0, 25.0, 8.0]), 20.0, 1.2))


def gillespie(contact, recovery, uniforms):
    """A stochastic epidemic; the random numbers are given, the times of the events depend on rates."""
    s, i, t = 9, 1, 0.0
    sick_time = 0.0
    for u, choice in uniforms:
        infections = contact * s * i / 10
        recoveries = recovery * i
        total = infections + recoveries
        if total == 0:
            break
        wait = -math.log(u) / total
        t += wait
        sick_time += wait * i
        if choice * total < infections:
            s, i = s - 1, i + 1
        else:
            i -= 1
    return t + sick_time


DRAWS = [(0.3, 0.1), (0.7, 0.4), (0.5, 0.9), (0.2, 0.3), (0.8, 0.6), (0.4, 0.95)]
add(gillespie, (0.9, 0.4, DRAWS), (0.1, 0.9, DRAWS), wrt=(0, 1))


def age_structure(births, survival, harvest):
    """Leslie's model by hand; the oldest class collects."""
    population = [10.0, 6.0, 3.0, 1.0]
    yields = []
    for year in range(5):
        newborn = sum(b * p for b, p in zip(births, population))
        caught = 0.0
        for age in range(len(population) - 1, 0, -1):
            moved = survival[age - 1] * population[age - 1]
            if age == len(population) - 1:
                moved += survival[-1] * population[age]
            taken = harvest * moved if age >= 2 else 0.0
            caught += taken
            population[age] = moved - taken
        population[0] = newborn / (1 + 0.02 * sum(population))
        yields.append(caught)
    return sum(y * 0.95**k for k, y in enumerate(yields)) + population[0]


add(age_structure, ([0.0, 1.1, 1.5, 0.8], [0.6, 0.7, 0.5, 0.3], 0.2))


def battery(current, capacity, resistance):
    """State of charge and voltage by a table with linear interpolation; cut off when empty."""
    table = [(0.0, 3.0), (0.2, 3.5), (0.8, 3.9), (1.0, 4.2)]
    charge, slow, heat, energy = 1.0, 0.0, 0.0, 0.0
    for amps in current:
        charge -= amps * 0.1 / capacity
        if charge < 0.05:
            energy -= 0.5 * charge
            break
        for (s0, v0), (s1, v1) in zip(table, table[1:]):
            if s0 <= charge <= s1:
                open_circuit = v0 + (v1 - v0) * (charge - s0) / (s1 - s0)
                break
        else:
            open_circuit = table[-1][1]
        slow += 0.3 * (0.02 * amps - slow)
        voltage = open_circuit - amps * resistance - slow
        heat += amps**2 * resistance
        energy += voltage * amps * 0.1
    return energy - 0.1 * heat


CURRENT = [2.0, 3.5, -1.0, 4.0, 2.5]
add(battery, (CURRENT, 1.3, 0.05), (CURRENT, 0.9, 0.05), ([-1.0, 0.4], 2.0, 0.05))


def catchment(rain, temperature, melt, capacity, recession):
    """A bucket model: snow, soil and groundwater; the discharge day by day."""
    store = {"snow": 0.0, "soil": 20.0, "ground": 10.0}
    discharge = np.zeros(len(rain))
    for day, (r, t) in enumerate(zip(rain, temperature)):
        if t < 0:
            store["snow"] += r
            water = 0.0
        else:
            melted = min(melt * t, store["snow"])
            store["snow"] -= melted
            water = r + melted
        share = (store["soil"] / capacity) ** 2
        store["soil"] += water * (1 - share)
        if store["soil"] > capacity:
            water += store["soil"] - capacity
            store["soil"] = capacity
        store["soil"] -= 0.02 * store["soil"] * max(t, 0.0)
        store["ground"] += water * share
        flow = recession * store["ground"] ** 1.2
        store["ground"] -= flow
        discharge[day] = flow
    return np.sqrt(np.mean((discharge - 1.5) ** 2)) + store["snow"]


add(
    catchment,
    ([5.0, 8.0, 0.0, 12.0, 20.0], [-2.0, -1.0, 3.0, 4.0, 2.5], 1.3, 30.0, 0.05),
)


def staged_rocket(masses, fuels, burn, exhaust):
    """Stages are dropped when they are empty; drag falls with height."""
    height, speed, payload = 0.0, 0.0, 0.3
    stages = [{"dry": m, "fuel": f} for m, f in zip(masses, fuels)]
    for _ in range(25):
        mass = payload + sum(s["dry"] + s["fuel"] for s in stages)
        thrust = 0.0
        if stages:
            used = min(burn * 0.5, stages[0]["fuel"])
            stages[0]["fuel"] -= used
            thrust = exhaust * used / 0.5
            if stages[0]["fuel"] <= 0:
                stages.pop(0)
        drag = 0.01 * speed * abs(speed) * math.exp(-height / 8)
        speed += 0.5 * ((thrust - drag) / mass - 0.1)
        height += 0.5 * speed
        if height < 0:
            height, speed = 0.0, 0.0
    return height + len(stages)


add(staged_rocket, ([0.5, 0.2], [1.7, 0.9], 0.5, 2.0))


# Structures, circuits, robots


def truss(areas, load):
    """Five bars in a plane, assembled by nodes, supports removed."""
    nodes = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.5], [3.0, 1.5]])
    bars = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    K = np.zeros((8, 8))
    for (a, b), area in zip(bars, areas):
        d = nodes[b] - nodes[a]
        length = np.sqrt(np.sum(d**2))
        c, s = d / length
        T = np.array([-c, -s, c, s])
        dofs = [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]
        for i in range(4):
            for j in range(4):
                K[dofs[i], dofs[j]] += area / length * T[i] * T[j]
    free = [2, 4, 5, 6, 7]
    f = np.zeros(8)
    f[7] = -load
    u = np.zeros(8)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], f[free])
    return u @ f + u[5]


add(truss, (np.array([1.0, 0.8, 1.2, 0.7, 0.9]), 0.3))


def bending_beam(stiffness, load):
    """Cubic beam elements; the tip of a cantilever."""
    n = len(stiffness)
    K = np.zeros((2 * n + 2, 2 * n + 2))
    f = np.zeros(2 * n + 2)
    h = 1.0 / n
    element = np.array(
        [
            [12.0, 6 * h, -12.0, 6 * h],
            [6 * h, 4 * h * h, -6 * h, 2 * h * h],
            [-12.0, -6 * h, 12.0, -6 * h],
            [6 * h, 2 * h * h, -6 * h, 4 * h * h],
        ]
    )
    for e in range(n):
        K[2 * e : 2 * e + 4, 2 * e : 2 * e + 4] += stiffness[e] / h**3 * element
        f[2 * e : 2 * e + 4] += load[e] * h / 2 * np.array([1.0, h / 6, 1.0, -h / 6])
    deflection = np.linalg.solve(K[2:, 2:], f[2:])
    return deflection[-2]


add(bending_beam, (np.array([2.0, 1.5, 1.0]), np.array([0.1, 0.3, 0.2])))


def resistor_network(resistances, voltage):
    """Nodal analysis of a bridge: conductances stamped into a matrix."""
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    G = [[0.0] * 4 for _ in range(4)]
    for (a, b), r in zip(edges, resistances):
        g = 1 / r
        G[a][a] += g
        G[b][b] += g
        G[a][b] -= g
        G[b][a] -= g
    right = [0.0, 0.0, 0.0, 0.0]
    for node, level in ((0, voltage), (3, 0.0)):
        G[node] = [1.0 if k == node else 0.0 for k in range(4)]
        right[node] = level
    for k in range(4):
        for i in range(k + 1, 4):
            factor = G[i][k] / G[k][k]
            for j in range(k, 4):
                G[i][j] -= factor * G[k][j]
            right[i] -= factor * right[k]
    for k in reversed(range(4)):
        right[k] = (right[k] - sum(G[k][j] * right[j] for j in range(k + 1, 4))) / G[k][k]
    return (right[1] - right[2]) / resistances[2]


add(resistor_network, ([1.0, 2.0, 0.5, 1.5, 0.8], 5.0))


def diode_rectifier(amplitude, resistance, capacitance):
    """A capacitor behind a diode; the diode's current by Newton's method in every time step."""
    charge, ripple = 0.0, []
    for step in range(10):
        source = amplitude * math.sin(0.6 * step)
        guess = charge
        for _ in range(50):
            x = min((source - guess) / 0.05, 30.0)
            current = 0.01 * (math.exp(x) - 1)
            slope = -0.01 * math.exp(x) / 0.05
            miss = capacitance * (guess - charge) - current + guess / resistance
            change = miss / (capacitance - slope + 1 / resistance)
            guess -= change
            if abs(change) < 1e-14:
                break
        charge = guess
        ripple.append(charge)
    return max(ripple) - ripple[-1]


add(diode_rectifier, (0.3, 2.0, 1.5), rel=1e-9, smooth=False)


def robot_arm(angles, lengths):
    """Homogeneous matrices multiplied in place along the arm; the hand's place and tilt."""
    T = np.eye(4)
    joint = np.eye(4)
    reach = 0.0
    for k, (angle, length) in enumerate(zip(angles, lengths)):
        c, s = np.cos(angle), np.sin(angle)
        joint[:] = np.eye(4)
        if k % 2 == 0:
            joint[:2, :2] = [[c, -s], [s, c]]
        else:
            joint[1:3, 1:3] = np.array([[c, -s], [s, c]])
        joint[:3, 3] = joint[:3, 0] * length
        T[...] = T @ joint
        reach = max(reach, T[0, 3])
    return T[:3, 3] @ np.array([1.0, 2.0, 3.0]) + T[2, 1] + 0.1 * reach


add(robot_arm, (np.array([0.3, -0.7, 1.1, 0.4]), np.array([1.0, 0.8, 0.5, 0.3])))


def inverse_kinematics(target, lengths):
    """Cyclic coordinate descent on a planar arm."""
    angles = [0.3, 0.2, 0.1]

    def joints():
        points, x, y, total = [(0.0, 0.0)], 0.0, 0.0, 0.0
        for angle, length in zip(angles, lengths):
            total += angle
            x += length * math.cos(total)
            y += length * math.sin(total)
            points.append((x, y))
        return points

    for _ in range(2):
        for k in reversed(range(len(angles))):
            points = joints()
            px, py = points[k]
            hx, hy = points[-1]
            now = math.atan2(hy - py, hx - px)
            wanted = math.atan2(target[1] - py, target[0] - px)
            angles[k] += wanted - now
    x, y = joints()[-1]
    return (x - target[0]) ** 2 + (y - target[1]) ** 2 + 0.1 * angles[1]


add(inverse_kinematics, ((0.9, 1.3), [1.0, 0.7, 0.4]))


def power_flow(loads, admittance):
    """Gauss and Seidel on a small grid with complex voltages."""
    n = len(loads)
    V = np.ones(n, dtype=complex)
    for _ in range(5):
        for i in range(1, n):
            current = np.conj(loads[i] / V[i])
            others = 0j
            for j in range(n):
                if j != i:
                    others += admittance[i, j] * V[j]
            V[i] = (current - others) / admittance[i, i]
    return np.abs(V[2]) + V[1].imag


ADMITTANCE = np.array(
    [
        [3 - 9j, -2 + 5j, -1 + 4j],
        [-2 + 5j, 4 - 8j, -2 + 3j],
        [-1 + 4j, -2 + 3j, 3 - 7j],
    ]
)
add(power_flow, (np.array([0j, -0.3 - 0.1j, -0.2 - 0.15j]), ADMITTANCE))


# Images, curves, light


def blurred(image, width):
    """Two passes with a small kernel, edges repeated."""
    rows, columns = image.shape
    kernel = [math.exp(-((k / width) ** 2) / 2) for k in (-1, 0, 1)]
    total = sum(kernel)
    passes = np.empty_like(image)
    for i in range(rows):
        for j in range(columns):
            value = 0.0
            for k, weight in zip((-1, 0, 1), kernel):
                value += weight * image[i, min(max(j + k, 0), columns - 1)]
            passes[i, j] = value / total
    out = np.zeros_like(image)
    for k, weight in zip((-1, 0, 1), kernel):
        for i in range(rows):
            out[i] += weight / total * passes[min(max(i + k, 0), rows - 1)]
    return np.sum((image - out) ** 2)


IMAGE = np.array([[0.2, 0.8, 0.5], [0.9, 0.1, 0.4], [0.3, 0.7, 0.6]])
add(blurred, (IMAGE, 0.8))


def bilateral(image, spread):
    rows, columns = image.shape
    out = image.copy()
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            weights = values = 0.0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    near = image[i + di, j + dj]
                    w = math.exp(-(di * di + dj * dj) / 2 - ((near - image[i, j]) / spread) ** 2)
                    weights += w
                    values += w * near
            out[i, j] = values / weights
    return out


WIDE = np.array([[0.2, 0.8, 0.5, 0.1], [0.9, 0.1, 0.4, 0.3], [0.3, 0.7, 0.6, 0.2]])
add(bilateral, (WIDE, 0.4))


def integral_image(image, boxes):
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    for i in range(image.shape[0]):
        running = 0.0
        for j in range(image.shape[1]):
            running += image[i, j]
            table[i + 1, j + 1] = table[i, j + 1] + running
    feature = 0.0
    for top, left, bottom, right in boxes:
        box = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
        feature = feature * 0.5 + box**2
    return feature


add(integral_image, (IMAGE, [(0, 0, 2, 2), (1, 0, 3, 3)]), wrt=(0,))


def convolutional_layer(image, kernels, bias):
    filters, size, _ = kernels.shape
    n = image.shape[0] - size + 1
    out = np.zeros((filters, n, n))
    for f in range(filters):
        for i in range(n):
            for j in range(n):
                out[f, i, j] = bias[f] + np.sum(image[i : i + size, j : j + size] * kernels[f])
    out[out < 0] *= 0.1
    pooled = np.zeros(filters)
    for f in range(filters):
        pooled[f] = out[f].max()
    return pooled @ pooled + out.mean()


KERNELS = np.array([[[0.5, -0.3], [0.8, 0.1]], [[-0.7, 0.2], [0.4, -0.9]]])
add(convolutional_layer, (IMAGE, KERNELS, np.array([0.1, -0.05])))


def bezier_length(points):
    """De Casteljau's scheme, overwriting a copy of the control points."""
    previous, length = None, 0.0
    for k in range(5):
        t = k / 4
        work = [list(p) for p in points]
        for level in range(len(work) - 1, 0, -1):
            for i in range(level):
                for axis in (0, 1):
                    work[i][axis] += t * (work[i + 1][axis] - work[i][axis])
        here = work[0]
        if previous is not None:
            length += math.dist(here, previous)
        previous = here
    return length


add(bezier_length, ([(0.0, 0.0), (0.5, 1.2), (1.5, -0.4), (2.0, 0.7)],))


def de_boor(x, knots, control, degree):
    k = degree
    while knots[k + 1] <= x:
        k += 1
    d = [control[j + k - degree] for j in range(degree + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            left = knots[j + k - degree]
            alpha = (x - left) / (knots[j + 1 + k - r] - left)
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
    return d[degree]


def spline_energy(control, xs):
    knots = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0]
    return sum(de_boor(x, knots, control, 2) ** 2 for x in xs)


add(spline_energy, ([0.5, -1.0, 2.0, 0.7, 1.1], [0.3, 1.4, 2.6]))


def natural_spline(xs, ys, at):
    n = len(xs) - 1
    h = [xs[i + 1] - xs[i] for i in range(n)]
    alpha = [0.0] * n
    for i in range(1, n):
        alpha[i] = 3 / h[i] * (ys[i + 1] - ys[i]) - 3 / h[i - 1] * (ys[i] - ys[i - 1])
    l, mu, z, c = [1.0], [0.0], [0.0], [0.0] * (n + 1)
    for i in range(1, n):
        l.append(2 * (xs[i + 1] - xs[i - 1]) - h[i - 1] * mu[i - 1])
        mu.append(h[i] / l[i])
        z.append((alpha[i] - h[i - 1] * z[i - 1]) / l[i])
    for j in range(n - 1, -1, -1):
        c[j] = (z[j] if j < len(z) else 0.0) - mu[j] * c[j + 1]
    for j in range(n):
        if xs[j] <= at <= xs[j + 1]:
            t = at - xs[j]
            b = (ys[j + 1] - ys[j]) / h[j] - h[j] * (c[j + 1] + 2 * c[j]) / 3
            return ys[j] + b * t + c[j] * t**2 + (c[j + 1] - c[j]) / (3 * h[j]) * t**3
    raise ValueError("outside of the table")


add(natural_spline, ([0.0, 0.8, 1.5, 3.0], [1.0, -0.3, 0.6, 0.9], 1.1))


def ray_marcher(camera, light, radius):
    """Rays step forward by the distance to the nearest surface; hits are shaded."""

    def distance(p):
        ball = np.sqrt(np.sum((p - np.array([0.0, 0.2, 3.0])) ** 2)) - radius
        floor = p[1] + 1.0
        return min(ball, floor)

    image = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            direction = np.array([0.4 * j - 0.25, 0.15 - 0.5 * i, 1.0])
            direction /= np.sqrt(direction @ direction)
            p = camera.copy()
            for _ in range(30):
                d = distance(p)
                if d < 1e-3:
                    break
                p += d * direction
                if p[2] > 20:
                    break
            else:
                continue
            normal = np.empty(3)
            for axis in range(3):
                step = np.zeros(3)
                step[axis] = 1e-3
                normal[axis] = distance(p + step) - distance(p - step)
            normal /= np.sqrt(normal @ normal)
            image[i, j] = max(0.0, normal @ light) / (1 + 0.1 * p[2])
    return np.sum(image)


add(
    ray_marcher,
    (np.array([0.1, 0.3, -0.5]), np.array([0.3, 0.9, -0.3]), 0.8),
    rel=1e-8,
    smooth=False,
)


def lens_system(curvatures, thicknesses, height):
    """A paraxial ray is not enough: exact refraction at spheres, one after the other."""
    y, angle = height, 0.0
    index = 1.0
    trace = [y]
    for k, (curvature, thickness) in enumerate(zip(curvatures, thicknesses)):
        following = 1.5 if k % 2 == 0 else 1.0
        tilt = math.asin(y * curvature)
        incidence = angle + tilt
        angle = math.asin(index / following * math.sin(incidence)) - tilt
        index = following
        y += thickness * math.tan(angle)
        trace.append(y)
    return trace[-1] ** 2 + 0.1 * max(trace)


add(lens_system, ([0.3, -0.2, 0.15, -0.4], [0.5, 0.3, 0.4, 1.0], 0.6))


def smoothed_mesh(vertices, edges, weight):
    neighbours = {}
    for a, b in edges:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    for _ in range(2):
        moved = {}
        for k, near in sorted(neighbours.items()):
            if len(near) < 3:
                continue
            centre = sum(vertices[m] for m in sorted(near)) / len(near)
            moved[k] = vertices[k] + weight * (centre - vertices[k])
        for k, place in moved.items():
            vertices[k] = place
    total = 0.0
    for a, b in edges:
        total += np.sqrt(np.sum((vertices[a] - vertices[b]) ** 2))
    return total


add(
    smoothed_mesh,
    (
        np.array([[0.0, 0.0], [1.0, 0.1], [1.1, 1.0], [0.1, 0.9], [0.7, 0.4]]),
        [(0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3)],
        0.5,
    ),
    wrt=(0, 2),
)


def rasterised_disc(cx, cy, radius, sharpness):
    """A soft disc drawn into a picture, compared with a target, light added row by row."""
    picture = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            away = math.hypot(j - cx, i - cy) - radius
            picture[i, j] += 1 / (1 + math.exp(sharpness * away))
    target = np.zeros((4, 4))
    target[1:3, 1:3] = 1.0
    picture -= target
    picture *= picture
    return picture.sum()


add(rasterised_disc, (1.4, 1.7, 1.1, 3.0))


# Signals


def adaptive_filter(signal, noise, rate):
    """Least mean squares: the taps change with every sample."""
    taps = np.zeros(3)
    errors = []
    for n in range(2, len(signal)):
        window = noise[n - 2 : n + 1][::-1]
        error = signal[n] - taps @ window
        taps += 2 * rate * error * window
        errors.append(error)
    return sum(e * e for e in errors) + taps[0]


SIGNAL = np.array([0.5, 1.2, -0.3, 0.8, 0.1, -0.9])
add(adaptive_filter, (SIGNAL, np.roll(SIGNAL, 1) * 0.7 + 0.1, 0.1))


def goertzel(signal, frequency):
    s1 = s2 = 0.0
    factor = 2 * math.cos(2 * math.pi * frequency)
    for x in signal:
        s1, s2 = x + factor * s1 - s2, s1
    return s1 * s1 + s2 * s2 - factor * s1 * s2


add(goertzel, (SIGNAL, 0.17))


def phase_locked_loop(phases, gain, damping):
    estimate, frequency = 0.0, 0.1
    history = np.zeros(len(phases))
    for k, phase in enumerate(phases):
        error = math.sin(phase - estimate)
        frequency += gain * error
        estimate += frequency + damping * error
        if estimate > math.pi:
            estimate -= 2 * math.pi
        history[k] = error
    return history[-3:] @ history[-3:] + estimate


add(phase_locked_loop, ([0.2, 1.0, 1.9, 2.9, 3.8, 4.6], 0.2, 0.4))


def self_consistent_field(hopping, repulsion, mixing):
    """Densities on three sites from orbitals of a Hamiltonian that depends on them."""
    density = np.array([0.5, 0.3, 0.2])
    H = np.zeros((3, 3))
    for _ in range(5):
        np.fill_diagonal(H, repulsion * density)
        for i in range(2):
            H[i, i + 1] = H[i + 1, i] = -hopping
        v = np.ones(3)
        for _ in range(6):  # the lowest state, by powers of (2 - H)
            v = 2 * v - H @ v
            v /= np.sqrt(v @ v)
        density *= 1 - mixing
        density += mixing * v**2
    return v @ H @ v + density[0]


add(self_consistent_field, (0.7, 1.3, 0.4))


def tabulated_romberg(a, b, power):
    """Romberg's table, one row after the other, kept whole."""
    table = [[0.5 * (b - a) * (math.exp(-a) * a**power + math.exp(-b) * b**power)]]
    for n in range(1, 4):
        h = (b - a) / 2**n
        middle = sum(
            math.exp(-(a + (2 * k - 1) * h)) * (a + (2 * k - 1) * h) ** power
            for k in range(1, 2 ** (n - 1) + 1)
        )
        row = [0.5 * table[-1][0] + h * middle]
        for m in range(1, n + 1):
            row.append(row[m - 1] + (row[m - 1] - table[-1][m - 1]) / (4**m - 1))
        table.append(row)
    return table[-1][-1]


add(tabulated_romberg, (0.5, 2.0, 1.5))
