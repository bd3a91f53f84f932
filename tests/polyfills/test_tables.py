"""Tables of data (pandas) in programs: what is read of them, and columns that meet values of the program."""

# tables are asked, and lists filled, as users do
# ruff: noqa: PERF401

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import standing_alone
from error_texts import refusal
from scipy import integrate, interpolate, stats

import wengert as wg
from wengert.errors import NativeWarning

THETA = np.array([0.2, 0.9])
DATA = pd.DataFrame(
    {
        "t": np.linspace(0, 1, 6),
        "y": np.linspace(1, 2, 6) ** 2,
        "group": ["a", "b", "a", "b", "a", "b"],
    }
)
NAMED = DATA.set_index(pd.Index(list("uvwxyz")))
TABLES = {"all": DATA, "named": NAMED}
MISSING = pd.Series([1.0, np.nan, 3.0])


# --- what is read -------------------------------------------------------------------------------


def arrays(p):
    r = DATA["y"].values - p[0] * np.exp(p[1] * DATA.t.to_numpy())
    return np.sum(r**2) / len(DATA) + np.asarray(DATA["y"]) @ np.array(DATA.t) * p[0]


def rows(p):
    total = 0.0
    for _, row in DATA.iterrows():
        total += (row["y"] - p[0] * row.t - p[1]) ** 2
    for row in DATA.itertuples():
        total += (row.y - p[0] * row.t) ** 2
    for t, y in zip(DATA["t"], DATA["y"]):
        total += t * y * p[1]
    return total


def places(p):
    total = 0.0
    for k in range(len(DATA)):
        total += DATA["y"][k] * p[0] + DATA.t.iloc[k] * p[1] + DATA["y"].iat[k] * p[0] ** 2
    for k in DATA.index:
        total += (DATA.loc[k, "y"] - p[0] * DATA.at[k, "t"]) ** 2
    return total


def groups(p):
    total = 0.0
    for name, part in DATA.groupby("group"):
        total += (part["y"] * p[0]).mean() if name == "a" else (part["y"] ** p[1]).sum()
    means = DATA.groupby("group")["y"].mean()
    return total + means["b"] * p[0] + dict(zip(DATA["group"], DATA["y"]))["a"] * p[1]


def filters(p):
    part = DATA[(DATA["group"] == "a") & (DATA.y > 1.5)]
    total = np.sum((part["y"].values - p[0] * part["t"].values - p[1]) ** 2)
    return total + DATA.describe().loc["mean", "y"] * p[0] + DATA[["t", "y"]].mean().sum() * p[1]


def questions(p):
    if "y" in DATA.columns and not DATA.empty and isinstance(DATA["y"], pd.Series):
        return p[0] * DATA["y"].max() * DATA.shape[0]
    return p[1]


def other_tables(p):
    both = pd.concat([DATA["y"], MISSING])
    return both.sum() * p[0] + pd.Timestamp("2020-01-03").day * p[1]


# --- what is computed with ----------------------------------------------------------------------


def residuals(p):
    r = DATA["y"] - p[0] * np.exp(p[1] * DATA["t"])
    return (
        r.std()
        + r.var()
        + r.mean()
        + (r**2).sum()
        + np.std(r)
        + np.mean(r**2)
        + r.abs().max()
        + np.min(r)
    )


def items_of_columns(p):
    r = (DATA.y - (p[0] + p[1] * DATA.t)) / DATA.y
    total = r.iloc[2] + r[1] + sum(r) + np.dot(r, r) + r.values[3] + r.to_numpy()[1] + r[1:3].sum()
    for k in range(len(r)):
        total += r[k] ** 2 * r.iloc[k]
    return total + r[DATA["group"] == "a"].sum()


def by_name(p):
    r = NAMED["y"] * p[0] - p[1]
    return r["w"] * 2 + r[NAMED.group == "b"].iloc[0]


def choices(p):
    r = DATA["y"] * p[0]
    chosen = np.where(r > 0.4, r, p[1]).sum() + np.maximum(r, p[1]).sum() + r.clip(0.3, 0.6).sum()
    return chosen + ((r > 0.3) & (r < 0.7)).sum() * p[0]


def operators(p):
    total = (2 / (DATA["y"] * p[0])).sum() + (-DATA["y"] * p[1]).sum() + (p[0] ** DATA["t"]).sum()
    return (
        total
        + (DATA["t"] ** p[0]).iloc[3]
        + (1 - DATA["t"] * p[1]).prod()
        + (DATA[["t", "y"]] @ p).sum()
    )


def without_what_is_missing(p):
    return (
        (MISSING * p[0]).sum()
        + (MISSING * p[1]).mean()
        + np.sum(MISSING * p[0])
        + (MISSING * p[1]).std()
    )


def by_function(p):
    return (
        DATA["y"].apply(lambda v: v * p[0] if v > 2 else v * p[1]).sum() + pd.Series(p * 2.0).std()
    )


def copies(p):
    table = DATA.copy()
    table["model"] = p[0] * table["t"] + p[1]
    table["residual"] = (table["model"] - table["y"]) / 2
    table["y"] *= p[0]
    more = DATA.assign(model=p[0] * DATA["t"], scaled=lambda f: f["y"] * p[1])
    return (
        (table["residual"] ** 2).sum()
        + table.model.mean()
        + table["y"].std()
        + (more.model * more.scaled).sum()
    )


def with_solvers(p):
    solution = integrate.solve_ivp(
        lambda t, y: [p[0] * y[0]], (0, 1), [p[1]], t_eval=DATA["t"], rtol=1e-10, atol=1e-12
    )
    line = interpolate.interp1d(DATA["t"], DATA["y"])
    density = stats.norm.logpdf(DATA["y"], p[0] * DATA["t"], p[1]).sum()
    return (
        ((solution.y[0] - DATA["y"]) ** 2).sum()
        + line(p[0] + 0.05) * np.interp(p[1], DATA.t, DATA.y)
        + density
    )


def weighted(p):
    r = DATA["y"] - p[0] * DATA["t"]
    w = DATA["t"] / DATA["t"].sum()
    place = DATA["group"].map({"a": 0, "b": 1}).values
    total = (w * r**2).sum() + np.average(r, weights=w) + np.cumsum(r)[3] + r.cumsum().iloc[2]
    return total + np.sum((DATA["y"].values - p[place]) ** 2) + np.linalg.norm(r)


def made_columns(p):
    state, states = p[0], []
    for _ in range(len(NAMED)):
        states.append(state)
        state = state + p[1] * state * (1 - state)
    course = pd.Series(states, index=NAMED.index, name="course")
    total = ((np.log1p(course) - NAMED["y"]) ** 2).mean() + course["w"]
    as_long = []
    for t in DATA["t"].to_list():
        if t >= 0:
            as_long.append(t * p[0])
    total += ((pd.Series(as_long) - DATA["y"]) ** 2).sum() + pd.Series(as_long)[2]
    rows = DATA.apply(lambda row: (row["y"] - p[0] * row["t"]) ** 2, axis=1)
    return total + rows.sum() + rows.iloc[2]


def earlier_rows(p):
    r = DATA["y"] * p[0] + DATA["t"] * p[1]
    return (
        np.log(r / r.shift(1)).sum()
        + (r.diff() ** 2).mean()
        + r.shift(2).fillna(p[1]).sum()
        + r.round(1).sum()
    )


def chosen_tables(p):
    table = DATA if p[0] > 0 else NAMED
    total = ((table["y"] - p[1] * table["t"]) ** 2).sum() + (table["y"] * p[0]).std()
    for each in (DATA, NAMED):
        total += (each["y"] * p[0]).mean()
    return total + sum((TABLES[name]["y"] * p[1]).max() for name in TABLES)


def in_place(p):
    r = DATA["y"] * p[0]
    same = r
    r += p[1]
    r *= 2
    table = DATA.copy()
    table["q"] = r
    questions = (
        (3 in r) * p[0] + (99 in r) * p[1] + ("q" in table) * p[0] + ("none" in table) * p[1]
    )
    return same.sum() + questions + (table["q"] ** 2).sum()


LIMIT, FACTOR = 1.5, 2.0


def with_constants(p):
    part = DATA[DATA["y"] > LIMIT]
    scaled = part["y"].map(lambda v: v * FACTOR)
    return ((part["y"] - p[0]) ** 2).sum() + (scaled * p[1]).sum()


def in_single_precision(p):
    return (DATA["y"].astype("float32") * p[0]).sum() * p[1]


def test_numbers_of_numpy_count_as_pythons():
    value, gradient = wg.value_and_grad(in_single_precision)(THETA)
    assert value == in_single_precision(THETA)
    total = DATA["y"].sum()
    np.testing.assert_allclose(gradient, [total * THETA[1], total * THETA[0]], rtol=1e-6)


def asked_by_numpy(p):
    r = pd.Series(DATA[DATA["y"] > 1.5]["y"] * p[0])
    total = np.amax(r) + np.amin(r) + r.iloc[np.argmax(r)] + np.around(r, 1).iloc[0]
    return (
        total
        + np.any(r > 0.4) * p[0]
        + np.all(r > 0.4) * p[1]
        + (r - DATA[DATA["y"] > 1.5]["y"]).sum()
    )


PROGRAMS = [
    arrays, rows, places, groups, filters, questions, other_tables, residuals, items_of_columns, by_name,
    choices, operators, without_what_is_missing, by_function, copies, with_solvers, weighted,
    made_columns, earlier_rows, in_place, with_constants, asked_by_numpy,
]  # fmt: skip


def differences(f, p):
    return [(f(p + e) - f(p - e)) / 2e-6 for e in np.eye(2) * 1e-6]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs_with_tables(f):
    expected = differences(f, THETA)
    value, gradient = wg.value_and_grad(f)(THETA)
    assert value == pytest.approx(f(THETA), rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    pushed = [wg.pushforward(f, THETA)[1](e) for e in np.eye(2)]
    np.testing.assert_allclose(pushed, gradient, rtol=1e-12, atol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NativeWarning)
        np.testing.assert_allclose(wg.jit(wg.grad(f))(THETA), gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", [arrays, rows, places, residuals, by_function, copies])
def test_they_are_native(f):
    native = wg.jit(wg.grad(f), strict=True)
    np.testing.assert_allclose(native(THETA), wg.grad(f)(THETA), rtol=1e-12)


# --- tables that change, and that are given -----------------------------------------------------


def test_a_table_is_read_in_every_call(monkeypatch):
    data = DATA.copy()
    monkeypatch.setitem(globals(), "DATA", data)
    native = wg.jit(wg.grad(arrays))
    for change in ({}, {"y": data["t"] * 3 + 1}, {"y": np.arange(6)}, {"t": data["y"] / 2}):
        for name, column in change.items():
            data[name] = column
        np.testing.assert_allclose(wg.grad(arrays)(THETA), differences(arrays, THETA), rtol=1e-6)
        np.testing.assert_allclose(native(THETA), wg.grad(arrays)(THETA), rtol=1e-12)
    monkeypatch.setitem(globals(), "DATA", data.iloc[:4])
    np.testing.assert_allclose(wg.grad(arrays)(THETA), differences(arrays, THETA), rtol=1e-6)


def test_constants_are_read_in_every_call(monkeypatch):
    for limit, factor in [(1.5, 2.0), (2.2, 3.0), (2.2, 0.5)]:
        monkeypatch.setitem(globals(), "LIMIT", limit)
        monkeypatch.setitem(globals(), "FACTOR", factor)
        found = wg.grad(with_constants)(THETA)
        np.testing.assert_allclose(found, differences(with_constants, THETA), rtol=1e-7)


def test_what_was_not_there_may_come(monkeypatch):
    monkeypatch.setitem(globals(), "DATA", DATA.copy())
    f = lambda p: DATA["late"].sum() * p
    native = wg.jit(wg.grad(f))
    with pytest.raises(KeyError, match="late"):
        wg.grad(f)(2.0)
    with pytest.warns(NativeWarning), pytest.raises(KeyError, match="late"):
        native(2.0)
    DATA["late"] = DATA["y"]
    assert wg.grad(f)(2.0) == native(2.0) == DATA["y"].sum()
    del DATA["late"]
    with pytest.raises(KeyError, match="late"):
        wg.grad(f)(2.0)


def mean_square(p, table):
    return ((table.y - p[0] * table.t - p[1]) ** 2).mean()


class Model:
    def __init__(self, table):
        self.table = table

    def __call__(self, p):
        return mean_square(p, self.table) / len(self.table)


def test_a_table_is_given():
    gradient, of_table = wg.gradient(mean_square, THETA, DATA)
    assert of_table is None
    np.testing.assert_allclose(
        gradient, differences(lambda p: mean_square(p, DATA), THETA), rtol=1e-6
    )
    part = DATA[DATA["group"] == "a"]
    np.testing.assert_allclose(
        wg.grad(mean_square)(THETA, part),
        differences(lambda p: mean_square(p, part), THETA),
        rtol=1e-6,
    )
    np.testing.assert_allclose(wg.grad(Model(DATA))(THETA), gradient / 6, rtol=1e-12)
    fitted = THETA
    for _ in range(8):
        step = np.linalg.solve(
            wg.hessian(mean_square)(fitted, DATA), wg.grad(mean_square)(fitted, DATA)
        )
        fitted = fitted - step
    np.testing.assert_allclose(fitted, np.polyfit(DATA["t"], DATA["y"], 1), rtol=1e-8)


def test_a_derivative_for_a_table_stands_alone_with_its_data():
    special = standing_alone.alone(wg.grad(residuals).specialize(THETA))
    np.testing.assert_allclose(special(THETA), wg.grad(residuals)(THETA), rtol=1e-12)


def test_what_a_table_does_not_have():
    with pytest.raises(KeyError, match="none"):
        wg.gradient(lambda p: DATA["none"].sum() * p, 1.0)
    with pytest.raises(AttributeError, match="none"):
        wg.gradient(lambda p: DATA.none * p, 1.0)
    with pytest.raises(KeyError):
        wg.gradient(lambda p: (DATA["y"] * p)[-1], 1.0)

    def caught(p):
        try:
            return DATA["none"].sum() * p
        except KeyError:
            return 2 * p

    assert wg.gradient(caught, 1.0) == (2.0,)
    with pytest.raises(ValueError, match="truth value of a Series is ambiguous"):
        wg.gradient(lambda p: p if DATA["y"] * p > 0 else 0.0, 1.0)


# --- tables of values of the program ------------------------------------------------------------


def clipped_where(p):
    s = DATA["y"] * p - 2.0
    s = s.where((s >= 0) | s.isnull(), 0)
    return s.sum() + s.mask(s > 1.0, p).sum() + s.isna().sum() * p + s.between(0.5, 2.0).sum() * p


def made_of_columns(p):
    made = {"a": DATA["y"] * p}
    made["b"] = made["a"] ** 2
    table = pd.DataFrame(made, index=DATA.index)
    return (table["a"] * table.b).mean() + table.sum()["b"] + len(table) * table.shape[1] * p


def made_of_lists(p):
    table = pd.DataFrame({"i": [p, 2 * p], "v": [p * p, 1.0]})
    table["w"] = table.i * table.v
    total = table.loc[0, "i"] * table["v"].sum() + table.iloc[1, 2] + table.loc[:, "w"].mean()
    for k, row in table.iterrows():
        total += row["i"] * k * row.sum()
    return total


def made_of_rows(p):
    table = pd.DataFrame([{"a": k * p, "b": p**k} for k in range(3)])
    other = pd.DataFrame([[p, 2.0], [3.0, p * p]], columns=["a", "b"])
    return (
        (table.a * table.b).sum() + (other["a"] - other["b"]).abs().sum() + other.max(axis=1).sum()
    )


def whole_table(p):
    table = DATA[["t", "y"]] * p
    both = table + DATA[["t", "y"]] - np.array([p, 0.5])
    table.loc[table.y > 1, "y"] = 0.5 * p
    total = (
        table.to_numpy().sum()
        + both.values[0, 1] ** 2
        + (table.where(table > 0.3, p) ** 2).mean().sum()
    )
    return (
        total
        + table.apply(np.exp)["t"].sum()
        + table.apply(lambda c: c.max())["y"]
        + both.std().sum()
    )


def some_columns_given(p):
    table = DATA.assign(z=lambda d: d.y * p)
    return (
        (table.z * table.t).sum()
        + table.mean(numeric_only=True)["z"]
        + DATA["y"].where(DATA.y > 1, p).sum()
    )


def along_rows(p):
    table = DATA[["t", "y"]] * p
    found = [table.sum(axis=1), table.mean(axis=1), table.min(axis=1), table.std(axis=1)]
    return sum((part * DATA["t"]).sum() for part in found)


def by_labels(p):
    column = pd.Series(np.array([1.0, 2.0, 3.0]), index=pd.Index([3, 5, 0])) * p
    total = (
        column[[0, 3]].sum() * column.loc[5]
        + column.loc[[5]].sum() ** 2
        + column[0] * column.loc[:].sum()
    )
    table = pd.DataFrame({"a": column, "b": column**2})
    return (
        total
        + table.loc[[3, 0], "b"].sum()
        + table.loc[5].sum()
        + table.loc[0, "b"] * table.iloc[0, 1]
    )


OF_VALUES = [
    clipped_where, made_of_columns, made_of_rows, whole_table, some_columns_given, along_rows,
]  # fmt: skip


@pytest.mark.parametrize("f", OF_VALUES)
def test_R8_tables_of_values_of_the_program(f):
    x, step = 0.7, 1e-6
    right = (f(x + step) - f(x - step)) / (2 * step)
    value, slope = wg.value_and_grad(f)(x)
    assert value == pytest.approx(f(x))
    assert slope == pytest.approx(right, rel=1e-6)
    assert wg.pushforward(f, x)[1](1.0) == pytest.approx(right, rel=1e-6)


# --- what is refused ----------------------------------------------------------------------------


def assigned(p):
    DATA["z"] = p
    return p


def placed(p):
    DATA.loc[0, "y"] = p
    return p


def sorted_in_place(p):
    DATA.sort_values("y", inplace=True)
    return p


def written(p):
    DATA["y"].to_numpy()[0] = p
    return p


def of_other_rows(p):
    a, b = DATA[DATA.group == "a"]["y"] * p, DATA[DATA.group == "b"]["y"] * p
    return (a - b).sum()


def stored(p):
    kept = []
    for k in range(len(DATA) * 2):
        kept.append(DATA["y"] * p * k)
    return kept[len(DATA)].sum()


def put_in_another_order(p):
    return pd.Series(DATA["y"] * p, index=DATA.index[::-1]).iloc[0]


def of_a_dictionary(p):
    return pd.Series({"a": p}).sum()


def grouped(p):
    return DATA.assign(z=p).groupby("group")["z"].sum()["a"]


def multiplied_in_place(p):
    y = DATA["y"]
    same = y
    y *= p
    return same.sum()


REFUSED = {
    multiplied_in_place: "a table is changed, which is read as data here",
    assigned: "a table is changed, which is read as data here",
    placed: "a table is changed, which is read as data here",
    sorted_in_place: "`.sort_values()` changes a table",
    written: "`y` leads to an object that the program changes under another name",
    of_other_rows: "an operation on columns whose indexes are not equal",
    stored: "a column that holds values of the program is stored or passed on",
    put_in_another_order: "`Series` of a column and another index",
    of_a_dictionary: "a table is made of values of the program",
    grouped: "this of a table of which some columns hold values of the program",
}
SHORT = {
    "a slice of a column by labels": lambda p: (DATA["y"] * p).loc[0:2].sum(),
    "a table is made of values": lambda p: pd.concat([DATA["y"] * p, DATA["t"]]).sum(),
    "a table of text beside": lambda p: pd.DataFrame({"g": ["u"], "a": [p]}).a.sum(),
    "a table without names of columns": lambda p: pd.DataFrame([[p, p]]).sum().sum(),
    "a part of a table of which": lambda p: (DATA[["y"]] * p)[DATA["y"] > 1]["y"].sum(),
    "`.sample()` draws from a table at random": lambda p: DATA.sample(2)["y"].sum() * p,
    "`rolling` of this object is not covered": lambda p: (DATA["y"] * p).rolling(2).mean().sum(),
    "`np.repeat` of a column that holds": lambda p: np.repeat(DATA["y"] * p, 2).sum(),
}
REFUSED |= {f: what for what, f in SHORT.items()}


@pytest.mark.parametrize("f", REFUSED)
def test_what_is_refused_of_tables(f):
    before = DATA.copy()
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, 1.0))
    assert REFUSED[f] in str(error)
    pd.testing.assert_frame_equal(DATA, before)


def test_what_a_table_shows_is_shown_once(capsys, tmp_path):
    path = tmp_path / "table.csv"

    def f(p):
        print(DATA["y"].mean(), DATA.head(1))
        DATA.to_csv(path)
        return p

    assert wg.gradient(f, 1.0) == (1.0,)
    assert capsys.readouterr().out == f"{DATA['y'].mean()} {DATA.head(1)}\n"
    assert path.read_text().startswith(",t,y,group")


# --- functions that are given to tables, and what stands for columns ------------------------------

SCALE = 1.0
CONFIGURATION = {"scale": 1.0}


def doubled(v):
    return 2 * v


def of_a_global_that_is_bound(p):
    global SCALE
    SCALE = p
    return DATA["y"].apply(lambda v: v * SCALE).sum()


def of_a_global_that_changes(p):
    CONFIGURATION["scale"] = p
    return DATA["y"].map(lambda v: v * CONFIGURATION["scale"]).sum()


def of_nothing_else(p):
    return DATA["y"].apply(doubled).sum() * p + DATA["y"].map(lambda v: math.sqrt(v)).sum() * p


@pytest.mark.parametrize(
    "f", [of_a_global_that_is_bound, of_a_global_that_changes, of_nothing_else]
)
def test_functions_that_a_table_is_given(f):
    expected = pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-7)
    assert wg.gradient(f, 1.3) == (expected,)
    assert wg.pushforward(f, 1.3)[1](1.0) == expected


def test_what_stands_for_a_column_is_of_its_class_and_no_result():
    def f(p):
        column = DATA["y"] * p
        if isinstance(column, (pd.DataFrame, dict)) or not isinstance(column, pd.Series):
            return 0.0
        copied = DATA.copy()
        return column.sum() * isinstance(copied, pd.DataFrame)

    assert wg.gradient(f, 2.0) == (DATA["y"].sum(),)
    for g in (lambda p: DATA["y"] * p, lambda p: (p, [DATA["y"] * p])):
        error = refusal("WG101", NotImplementedError, lambda g=g: wg.pullback(g, 1.0))
        assert "a column that holds values of the program is a result" in str(error)


@pytest.mark.parametrize(
    ("f", "x", "words"),
    [
        (chosen_tables, THETA, "which table it is, or whether it is one, only the run knows"),
        (by_labels, 0.7, "a column that holds values of the program is stored or passed on"),
        (made_of_lists, 0.7, "a column that holds values of the program is stored or passed on"),
    ],
)
def test_tables_that_neither_tier_follows(f, x, words):
    """What only the run knows of a table, and rows of one made of values: recording takes tables as data alone."""
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(x))
    assert words in str(error)
    assert "to_numpy()" in str(error)
    assert "Recording a run does not help here" in str(error)
