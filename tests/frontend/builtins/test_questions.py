"""What programs ask of values, whatever they are: the answer is Python's, or the question is refused."""

import functools
import importlib.util
import itertools
import sys

import kinds_of_values as values
import numpy as np
import pytest
from turns import EVERY_PROGRAM, turn_of

import wengert as wg

PER_PROGRAM = 24


def program(name, made, questions, given):
    """Source whose result says what a program learns of a value: a digit of base 3 for every question."""
    lines = [f"def {name}(x{', w' if given else ''}):", "    said = 1.0"]
    if not given:
        lines.insert(1, f"    w = {made}")
    for k, question in enumerate(questions):
        if question in values.TRIED:
            lines += ["    answer = 1.0", "    try:", f"        {question}"]
            lines += [f"    except {values.TRIED[question]}:", "        answer = 2.0"]
        else:
            lines += [f"    answer = 1.0 if {question} else 2.0"]
        lines += [f"    said = said + answer * {3.0**k}"]
    return "\n".join([*lines, "    return x * said", ""])


def batches(questions, size=PER_PROGRAM):
    return [questions[k : k + size] for k in range(0, len(questions), size)]


QUESTIONS = [*batches(list(values.ASKED)), *batches(list(values.TRIED), 8)]


@pytest.fixture
def load(tmp_path):
    """Import source as a module of its own; gives it, and forgets it after the test."""
    names = []

    def loaded(source):
        name = f"asked_{tmp_path.name.replace('-', '_')}_{len(names)}"
        path = tmp_path / f"{name}.py"
        path.write_text(values.DEFINITIONS + source)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        names.append(name)
        spec.loader.exec_module(module)
        return module

    yield loaded
    for name in names:
        del sys.modules[name]


def outcome(run):
    """What a call gives, or the class of what it raises; None where it is refused, with a place in the source."""
    try:
        return run()
    except wg.WengertError as error:
        located = ".py:" in str(error) or error.code == "WG202"  # an argument has no place
        return None if located and error.code != "WG901" else str(error)
    except Exception as error:
        return type(error)


def learned(module, name, made, given, derive):
    """What a program says by plain Python and as it is differentiated."""
    function = getattr(module, name)
    arguments = lambda: (1.5, eval(made, vars(module))) if given else (1.5,)
    return outcome(lambda: function(*arguments())), outcome(lambda: derive(function, arguments()))


def by_gradient(function, arguments):
    value, slope = wg.value_and_grad(function)(*arguments)
    assert slope * 1.5 == pytest.approx(value, rel=1e-15)
    return value


def by_push(function, arguments):
    value, push = wg.pushforward(function, *arguments)
    tangent = push(1.0, *[None] * (len(arguments) - 1))
    assert tangent * 1.5 == pytest.approx(value, rel=1e-15)
    return value


def by_native(function, arguments):
    return wg.jit(function)(*arguments)


def disagreements(load, made, groups, given, derive):
    """The questions, of some groups, whose answer is wrong; a group that is refused, or raises, is asked one by one."""
    source = "\n".join(program(f"p{k}", made, group, given) for k, group in enumerate(groups))
    module, again = load(source), []
    wrong = []
    for k, group in enumerate(groups):
        plain, told = learned(module, f"p{k}", made, given, derive)
        alone = len(group) == 1
        if (told == plain and (alone or isinstance(plain, float))) or (told is None and alone):
            continue
        if len(group) == 1:
            wrong.append((group[0], plain, told))
        else:
            again += [[question] for question in group]
    return wrong + (disagreements(load, made, again, given, derive) if again else [])


EVERYWHERE = [
    *((f"made {kind}", source, False) for kind, source in values.MADE.items()),
    *((f"given {kind}", source, True) for kind, source in values.GIVEN.items()),
]
KINDS = pytest.mark.parametrize(
    ("made", "given"), [each[1:] for each in EVERYWHERE], ids=[each[0] for each in EVERYWHERE]
)


@KINDS
def test_what_a_program_learns_of_a_value(load, made, given):
    """Half of the questions of each kind of value, the others where it comes from elsewhere or looks otherwise."""
    asked = QUESTIONS if EVERY_PROGRAM else QUESTIONS[turn_of(f"{made} {given}", 2) :: 2]
    assert disagreements(load, made, asked, given, by_gradient) == []


@pytest.mark.parametrize(("made", "given"), [each[1:] for each in EVERYWHERE[::8]])
def test_what_it_learns_in_forward_mode(load, made, given):
    assert disagreements(load, made, QUESTIONS[::4], given, by_push) == []


SOME = [each for each in EVERYWHERE if each[0].split()[1] in ("float", "1-d", "list", "object")]


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(("made", "given"), [each[1:] for each in SOME])
def test_what_it_learns_in_native_code(load, made, given):
    assert disagreements(load, made, QUESTIONS[:2] + QUESTIONS[-3:], given, by_native) == []


# --- B-W1: names that a class has, and its instances do not -----------------------------------


def conductivity(T, k):
    return (k(T) if hasattr(k, "__call__") else k) * T  # noqa: B004


def scaled(T, w):
    scale = 1.0 if hasattr(w, "__call__") else w  # noqa: B004
    return T * scale


def ragged(T, w):
    return T * (w if not hasattr(w, "__call__") else 0.0)  # noqa: B004


def named_or_constant(T, w):
    return T * w * (2.0 if getattr(w, "__name__", "constant") == "constant" else 3.0)


def tried_name(T, w):
    try:
        w.__name__
    except AttributeError:
        return 2 * T * w
    return 3 * T * w


@pytest.mark.parametrize("function", [conductivity, scaled, ragged])
def test_B_W1_hasattr_of_what_only_classes_have(function):
    assert wg.pullback(function, 2.0, 3.0)[0] == 6.0
    assert wg.gradient(function, 2.0, 3.0) == (3.0, 2.0)
    assert wg.pushforward(function, 2.0, 3.0)[1](0.0, 1.0) == 2.0
    assert wg.jit(wg.grad(function, (0, 1)))(2.0, 3.0) == (3.0, 2.0)


@pytest.mark.parametrize("function", [named_or_constant, tried_name])
def test_B_W1_names_of_numbers_and_arrays(function):
    assert wg.gradient(function, 2.0, 3.0) == (6.0, 4.0)
    assert wg.gradient(function, np.float64(2.0), np.float64(3.0)) == (6.0, 4.0)
    jacobian = wg.jacobian(function, 1, mode="forward")(2.0, np.array([1.0, 3.0]))
    np.testing.assert_array_equal(jacobian, 4.0 * np.eye(2))


# --- R1: attributes that numbers and arrays cannot be given -----------------------------------


def named(x):
    y = np.cos(x) * x
    try:
        y.name = "projection"
    except AttributeError:
        pass
    return y * 2


def marked(x):
    y = x * x
    try:
        setattr(y, "unit", "m")  # noqa: B010
        y = y * 5
    except (AttributeError, TypeError) as error:
        y = y * len(type(error).__name__)
    try:
        del y.unit
    except AttributeError:
        y = y + x
    return y


def test_R1_attributes_that_a_number_cannot_be_given():
    for at in (0.7, np.float64(0.7), np.array(0.7)):
        right = 2 * (np.cos(0.7) - 0.7 * np.sin(0.7))
        assert wg.grad(named)(at) == pytest.approx(right, rel=1e-15)
        assert wg.grad(marked)(at) == pytest.approx(28 * 0.7 + 1, rel=1e-14)
    points = np.array([0.7, 1.0])
    slopes = np.diag(2 * (np.cos(points) - points * np.sin(points)))
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(wg.jacobian(named, mode=mode)(points), slopes, rtol=1e-14)
    assert wg.pushforward(named, 0.7)[1](1.0) == pytest.approx(right, rel=1e-15)
    assert wg.jit(wg.grad(named))(0.7) == pytest.approx(right, rel=1e-15)
    second = 2 * (-2 * np.sin(0.7) - 0.7 * np.cos(0.7))
    assert wg.hessian(named)(0.7) == pytest.approx(second, rel=1e-14)


def test_what_is_not_handled_is_raised():
    def assigned(x):
        x.name = 1.0
        return x

    for at in (1.0, np.ones(2)):
        with pytest.raises(AttributeError, match="has no attribute 'name'"):
            wg.pullback(assigned, at)


# --- classes derived from NumPy's and Python's --------------------------------------------------


class Labelled(np.ndarray):
    def __array_finalize__(self, source):
        self.label = getattr(source, "label", None)


class Tagged(float):
    tag = "m"


LABELLED = [
    lambda w: getattr(w, "label", None) is None,
    lambda w: hasattr(w, "label"),
    lambda w: isinstance(w, Labelled),
    lambda w: type(w) is np.ndarray,
    lambda w: hasattr(w, "shape") and not hasattr(w, "nonsense"),
]


@pytest.mark.parametrize("asks", LABELLED)
def test_arrays_of_a_class_derived_from_numpys(asks):
    def described(w):
        return np.sum(w) * (2.0 if asks(w) else 3.0)

    for array in (np.ones(2).view(Labelled), np.ones(2)):
        assert wg.value_and_grad(described)(array)[0] == described(array)
        assert wg.pushforward(described, array)[0] == described(array)


def test_numbers_of_a_class_derived_from_pythons():
    def described(x, w):
        return x * w * (2.0 if isinstance(w, Tagged) and w.tag == "m" else 3.0)

    number = Tagged(2.0)
    number.place = 1
    assert wg.value_and_grad(described)(1.5, number) == (6.0, 4.0)
    assert wg.value_and_grad(described)(1.5, 2.0) == (9.0, 6.0)


# --- attributes of functions that are arguments ------------------------------------------------


def of_order(f, x):
    return x * getattr(f, "order", 5)


def times(k):
    def f(t):
        return t * k

    return f


def test_attributes_of_functions_that_share_their_code():
    first, second, third = times(1.0), times(1.0), times(1.0)
    first.order, second.order = 2, 3
    for f, order in ((first, 2), (second, 3), (third, 5), (first, 2)):
        assert wg.grad(of_order, 1)(f, 1.0) == order
        assert wg.pushforward(of_order, f, 1.0)[1](None, 1.0) == order
    first.order = 7
    assert wg.grad(of_order, 1)(first, 1.0) == 7


def renamed(f, x):
    return x * (2 if f.__name__ == "f" else 3) * (1 if f.__doc__ is None else 5)


def test_names_of_functions_that_share_their_code():
    plain, other = times(1.0), times(1.0)
    other.__name__, other.__doc__ = "g", "Another."
    for f, right in itertools.product((plain, other, plain), (wg.grad, wg.value_and_grad)):
        factor = 2 if f is plain else 15
        found = right(renamed, 1)(f, 1.0)
        assert found == (factor if right is wg.grad else (factor, factor))


def copied_names(x):
    def mine(t):
        """Documented."""
        return t * x

    @functools.wraps(mine)
    def outer(*args):
        return mine(*args)

    same = outer.__name__ == "mine" and outer.__doc__ == "Documented."
    return outer(x) * (2 if same and hasattr(outer, "__wrapped__") else 3)


def test_wraps_inside_the_program():
    assert wg.value_and_grad(copied_names)(1.5) == (copied_names(1.5), 6.0)


# --- attributes that come and go, or that a method gives ----------------------------------------


class Held:
    pass


class Computed:
    def __init__(self, a):
        self.a = a

    @property
    def value(self):
        if self.a > 1:
            raise AttributeError("too large")
        return self.a * 2


class Base:
    def factor(self):
        return 2.0


class Derived(Base):
    def factor(self):
        known = hasattr(super(), "factor") and not hasattr(super(), "nonsense")
        return super().factor() * (3 if known else 5)


def from_the_second_turn_on(x):
    o, n = Held(), 0
    for _ in range(3):
        if hasattr(o, "a"):
            n += 1
        o.a = x
    return x * n


def on_one_path(x):
    o = Held()
    if x > 1:
        o.a = x
    return x * (2 if hasattr(o, "a") else 3) * getattr(o, "a", 7.0)


def given_by_a_property(x):
    return x * (2 if hasattr(Computed(x), "value") else 3) + getattr(Computed(x), "value", 5 * x)


def of_the_base(x):
    return x * Derived().factor()


def deleted(x):
    o = Held()
    o.a = x
    del o.a
    return x * (2 if hasattr(o, "a") else 3)


@pytest.mark.parametrize(
    "function", [from_the_second_turn_on, on_one_path, given_by_a_property, of_the_base, deleted]
)
def test_attributes_that_come_and_go(function):
    for x in (0.5, 1.5):
        value, slope = wg.value_and_grad(function)(x)
        assert value == function(x)
        assert slope == pytest.approx((function(x + 1e-6) - function(x - 1e-6)) / 2e-6, rel=1e-6)
        assert wg.pushforward(function, x)[1](1.0) == pytest.approx(slope, rel=1e-14)
        assert wg.jit(function)(x) == value
        assert wg.jit(wg.value_and_grad(function))(x) == (value, slope)


def words(statement, x):
    try:
        statement(x)
    except (AttributeError, TypeError) as error:
        return x * len(str(error))
    return x


STATEMENTS = [
    lambda x: x.nonsense,
    lambda x: delattr(x, "nonsense"),
    lambda x: len(x),
    lambda x: iter(x),
    lambda x: [x].nonsense,
    lambda x: len(Held()),
    lambda x: Held().nonsense,
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_words_are_pythons(statement):
    for x in (0.5, np.float64(0.5)):
        assert wg.value_and_grad(words, 1)(statement, x)[0] == words(statement, x)
        assert wg.pushforward(words, statement, x)[0] == words(statement, x)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_words_of_what_is_not_handled(statement):
    for x in (0.5, np.float64(0.5), np.ones(2)):
        plain = outcome_in_words(statement, x)
        assert outcome_in_words(lambda x: wg.pullback(statement, x), x) == plain


def outcome_in_words(run, x):
    try:
        run(x)
    except (AttributeError, TypeError) as error:
        return str(error)
    return None
