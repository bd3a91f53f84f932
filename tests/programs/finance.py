"""Prices, portfolios and cash flows: trees, paths and schedules."""

import math

import numpy as np

from .registry import add


def american_put(spot, strike, rate, volatility, steps):
    """A binomial tree, rolled back in place."""
    dt = 0.5 / steps
    up = math.exp(volatility * math.sqrt(dt))
    p = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = math.exp(-rate * dt)
    values = np.zeros(steps + 1)
    for j in range(steps + 1):
        values[j] = max(strike - spot * up ** (2 * j - steps), 0.0)
    for level in range(steps - 1, -1, -1):
        for j in range(level + 1):
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            exercise = strike - spot * up ** (2 * j - level)
            values[j] = max(hold, exercise)
    return values[0]


add(american_put, (100.0, 105.0, 0.03, 0.25, 8), (100.0, 90.0, 0.01, 0.4, 1), wrt=(0, 1, 2, 3))


def trinomial_tree(spot, strike, rate, volatility, steps):
    dt = 1.0 / steps
    dx = volatility * math.sqrt(3 * dt)
    drift = rate - 0.5 * volatility**2
    up = 0.5 * ((volatility**2 * dt + drift**2 * dt**2) / dx**2 + drift * dt / dx)
    down = up - drift * dt / dx
    middle = 1 - up - down
    grid = spot * np.exp(dx * np.arange(-steps, steps + 1))
    values = np.maximum(grid - strike, 0.0)
    for _ in range(steps):
        values[1:-1] = math.exp(-rate * dt) * (
            down * values[:-2] + middle * values[1:-1] + up * values[2:]
        )
        values[0], values[-1] = 0.0, 2 * values[-2] - values[-3]
    return values[steps]


add(trinomial_tree, (100.0, 97.0, 0.03, 0.25, 5), wrt=(0, 1, 2, 3))


NORMALS = np.array(
    [
        [0.3, -0.8, 0.5, 1.1],
        [-1.2, 0.4, 0.9, -0.3],
        [0.6, 0.2, -0.7, 0.8],
    ]
)


def asian_barrier_option(spot, strike, volatility, barrier):
    """Paths from fixed draws; a path that falls below the barrier pays nothing."""
    payoffs = []
    for row in NORMALS:
        price, path_sum, alive = spot, 0.0, True
        for z in row:
            price *= math.exp(-0.5 * volatility**2 / 4 + volatility / 2 * z)
            if price < barrier:
                alive = False
                break
            path_sum += price
        payoffs.append(max(path_sum / len(row) - strike, 0.0) if alive else 0.0)
    return sum(payoffs) / len(payoffs)


add(asian_barrier_option, (100.0, 98.0, 0.3, 85.0), (100.0, 90.0, 0.1, 20.0), wrt=(0, 1, 2))


def stochastic_volatility(spot, v0, speed, mean, vol_of_vol, correlation):
    """Heston's model, full truncation, all paths at once in place."""
    n = NORMALS.shape[0]
    log_price = np.full(n, np.log(spot))
    variance = np.full(n, v0)
    dt = 0.25
    for k in range(0, NORMALS.shape[1], 2):
        z1 = NORMALS[:, k]
        z2 = correlation * z1 + np.sqrt(1 - correlation**2) * NORMALS[:, k + 1]
        positive = np.maximum(variance, 0.0)
        log_price += -0.5 * positive * dt + np.sqrt(positive * dt) * z1
        variance += speed * (mean - positive) * dt + vol_of_vol * np.sqrt(positive * dt) * z2
    payoff = np.exp(log_price) - 100.0
    payoff[payoff < 0] = 0.0
    return payoff.mean()


add(stochastic_volatility, (100.0, 0.09, 1.5, 0.06, 0.4, -0.6))


def least_squares_exercise(spot, strike, volatility):
    """Longstaff and Schwartz on a few paths: regressions backwards in time."""
    n, steps = NORMALS.shape
    paths = np.empty((n, steps + 1))
    paths[:, 0] = spot
    for k in range(steps):
        paths[:, k + 1] = paths[:, k] * np.exp(
            -0.5 * volatility**2 / 4 + volatility / 2 * NORMALS[:, k]
        )
    cash = np.maximum(strike - paths[:, -1], 0.0)
    for k in range(steps - 1, 0, -1):
        cash *= 0.99
        x = paths[:, k] / strike
        basis = np.stack([np.ones(n), x], axis=1)
        coefficients = np.linalg.solve(basis.T @ basis, basis.T @ cash)
        hold = basis @ coefficients
        exercise = strike - paths[:, k]
        chosen = exercise > np.maximum(hold, 0.0)
        cash[chosen] = exercise[chosen]
    return 0.99 * cash.mean()


add(least_squares_exercise, (100.0, 104.0, 0.3))


def implicit_option_grid(volatility, rate, strike):
    """Black and Scholes by implicit steps; projected relaxation keeps the price above exercise."""
    n, dt = 6, 0.25
    S = np.linspace(40.0, 160.0, n + 1)
    payoff = np.maximum(strike - S, 0.0)
    V = payoff.copy()
    for _ in range(2):
        right = V.copy()
        for sweep in range(5):
            for i in range(1, n):
                k = S[i] / 20.0
                a = 0.5 * dt * (rate * k - volatility**2 * k**2)
                b = 1 + dt * (volatility**2 * k**2 + rate)
                c = -0.5 * dt * (rate * k + volatility**2 * k**2)
                relaxed = (right[i] - a * V[i - 1] - c * V[i + 1]) / b
                V[i] = max(V[i] + 1.2 * (relaxed - V[i]), payoff[i])
    return V[3] + 0.1 * V[2]


add(implicit_option_grid, (0.3, 0.05, 103.0))


def discount_curve(par_rates):
    """Bootstrapping: every new maturity needs the discounts found so far."""
    discounts = []
    for rate in par_rates:
        annuity = sum(discounts)
        discounts.append((1 - rate * annuity) / (1 + rate))
    forwards = [1 / discounts[0] - 1]
    for before, after in zip(discounts, discounts[1:]):
        forwards.append(before / after - 1)
    return {"discounts": discounts, "forwards": forwards}


add(discount_curve, ([0.02, 0.025, 0.03, 0.028],))


def internal_rate(flows):
    """Newton's method on the net present value, falling back on bisection."""
    low, high, rate = -0.5, 1.0, 0.1
    for _ in range(60):
        value = slope = 0.0
        for t, flow in enumerate(flows):
            value += flow / (1 + rate) ** t
            slope -= t * flow / (1 + rate) ** (t + 1)
        if value > 0:
            low = rate
        else:
            high = rate
        new = rate - value / slope
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - rate) < 1e-14:
            break
        rate = new
    return rate


add(internal_rate, ([-100.0, 30.0, 45.0, 60.0],), rel=1e-9, smooth=False)


def mortgage(principal, rate, fees):
    """Monthly schedule with prepayments; the loan may be paid back early."""
    balance, paid, months = principal, 0.0, 0
    payment = principal * rate / (1 - (1 + rate) ** -12)
    schedule = []
    extra = {3: 50.0, 7: 400.0}
    while balance > 0:
        interest = balance * rate
        due = min(payment + extra.get(months, 0.0), balance + interest)
        balance -= due - interest
        if due < payment:
            due += fees
        paid += due
        months += 1
        schedule.append((months, balance))
        if months > 24:
            raise RuntimeError("never paid back")
    return paid - principal + 0.01 * sum(b for _, b in schedule)


add(mortgage, (1000.0, 0.01, 5.0))


def rebalanced(weights, returns, cost):
    """A portfolio drifts and is brought back when it has drifted too far."""
    holdings = weights / np.sum(weights)
    target = holdings.copy()
    wealth = 1.0
    for r in returns:
        holdings *= 1 + r
        growth = holdings.sum()
        wealth *= growth
        holdings /= growth
        drift = np.abs(holdings - target)
        if drift.max() > 0.03:
            wealth *= 1 - cost * drift.sum()
            holdings[:] = target
    return math.log(wealth)


RETURNS = np.array([[0.05, -0.02, 0.01], [0.10, 0.03, -0.04], [-0.08, 0.02, 0.06]])
add(rebalanced, (np.array([1.0, 2.0, 1.5]), RETURNS, 0.01))


def rating_migration(matrix, spreads, horizon):
    """Expected loss of a bond whose rating wanders; default absorbs."""
    matrix = matrix.copy()
    for i in range(len(matrix)):
        matrix[i] /= np.sum(matrix[i])
    state = np.zeros(len(matrix))
    state[0] = 1.0
    loss = 0.0
    for year in range(1, horizon + 1):
        before = state[-1]
        state[:] = state @ matrix
        loss += (state[-1] - before) * 0.97**year
        loss += state[:-1] @ spreads
    return loss


add(
    rating_migration,
    (np.array([[9.0, 1.0, 0.1], [1.0, 8.0, 1.0], [0.0, 0.0, 1.0]]), np.array([0.01, 0.03]), 3),
    wrt=(0, 1),
)


def value_at_risk(positions, scenarios, level):
    losses = []
    for scenario in scenarios:
        loss = 0.0
        for position, move in zip(positions, scenario):
            loss -= position * (math.exp(move) - 1)
        losses.append(loss)
    losses.sort(reverse=True)
    tail = losses[: max(1, int(len(losses) * level))]
    return sum(tail) / len(tail) + 0.1 * losses[-1]


add(value_at_risk, (np.array([10.0, -4.0, 6.0]), RETURNS, 0.7), wrt=(0, 1))


def climate_and_growth(savings, abatement):
    """A growth model with a climate: capital, carbon and warmth step together."""
    capital, carbon, warmth, welfare = 1.5, 1.0, 0.8, 0.0
    for t, (s, mu) in enumerate(zip(savings, abatement)):
        output = capital**0.3 / (1 + 0.02 * warmth**2)
        net = output * (1 - 0.1 * mu**2.6)
        carbon += 0.3 * output * (1 - mu) - 0.05 * (carbon - 0.6)
        warmth += 0.1 * (3 * math.log(carbon / 0.6) / math.log(2) - warmth)
        welfare += math.log((1 - s) * net) * 0.95**t
        capital = 0.9 * capital + s * net
    return welfare + 2 * math.log(capital) - 0.05 * warmth**2


add(climate_and_growth, ([0.2, 0.25, 0.3, 0.22], [0.1, 0.3, 0.6, 0.9]))


def auction(bids, reserve):
    """Second price with a reserve, item after item; budgets shrink."""
    budgets = {name: 3.0 for name in bids}
    revenue = 0.0
    for item in range(2):
        offers = sorted(
            ((min(values[item], budgets[name]), name) for name, values in bids.items()),
            reverse=True,
        )
        (best, winner), (second, _), *_ = offers
        if best < reserve:
            continue
        price = max(second, reserve)
        budgets[winner] -= price
        revenue += price
    return revenue + 0.01 * sum(b * b for b in budgets.values())


add(
    auction,
    ({"ann": [2.0, 1.5], "bob": [1.7, 1.9], "cy": [0.5, 1.2]}, 0.9),
    ({"ann": [2.0, 1.5], "bob": [1.7, 1.9], "cy": [0.5, 1.2]}, 1.96),
)
