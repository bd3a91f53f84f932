"""Pools of threads and processes inside a function: what they are given is run at once, and differentiated."""

import concurrent.futures
import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
from error_texts import refusal

import wengert as wg

THETA = np.array([0.2, 0.9])


def work(x, factor=1):
    return math.sin(x) * factor


def mapped(p):
    with ThreadPoolExecutor(max_workers=2) as pool:
        squares = sum(pool.map(lambda x: x * x, p))
    with ProcessPoolExecutor() as pool:
        return squares + sum(pool.map(work, p, range(2)))


def submitted(p):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        futures = [pool.submit(work, x, factor=3) for x in p]
        total = sum(future.result() for future in concurrent.futures.as_completed(futures))
        failing = pool.submit(lambda: math.sqrt(-p[0]))
        try:
            total += failing.result()
        except ValueError:
            total += p[1] * 2
    return total + futures[0].result() * futures[1].done()


def pooled(p):
    with ThreadPool(2) as pool:
        total = (
            sum(pool.starmap(work, [(p[0], 1), (p[1], 2)])) + pool.apply_async(work, (p[0],)).get()
        )
    with multiprocessing.Pool(2) as pool:
        total += sum(pool.map(work, list(p))) * pool.apply(work, (p[1],), {"factor": 2})
    return total


@pytest.mark.parametrize("f", [mapped, submitted, pooled])
def test_pools(f):
    # the program itself would start processes, whose results are these
    sines = np.sin(THETA)
    cosines = np.cos(THETA)
    expected = {
        mapped: 2 * THETA + [0.0, cosines[1]],
        submitted: 3 * cosines + [3 * cosines[0], 2.0],
        pooled: [
            2 * cosines[0] + cosines[0] * 2 * sines[1],
            2 * cosines[1] + cosines[1] * 2 * sines[1] + sines.sum() * 2 * cosines[1],
        ],
    }[f]
    np.testing.assert_allclose(wg.grad(f)(THETA), expected, rtol=1e-12)
    pushed = [wg.pushforward(f, THETA)[1](e) for e in np.eye(2)]
    np.testing.assert_allclose(pushed, expected, rtol=1e-12)


LOG = []


def counted(x):
    LOG.append(x)
    return x * x


class Cell:
    def __init__(self, x):
        self.x = x


def doubled(cell):
    cell.x = cell.x * 2
    return cell.x


def in_processes(p):
    with multiprocessing.Pool(2) as pool:
        return sum(pool.map(counted, list(p)))


def of_objects(p):
    with ProcessPoolExecutor() as pool:
        return sum(pool.map(doubled, [Cell(p[0]), Cell(p[1])]))


@pytest.mark.parametrize("f", [in_processes, of_objects])
def test_a_process_may_not_change_what_is_outside(f):
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, THETA))
    assert "reads or changes more than its arguments" in str(error)


def in_threads(p):
    cells = [Cell(p[0]), Cell(p[1])]
    with ThreadPool(2) as pool:
        return sum(pool.map(doubled, cells)) + cells[0].x


def test_a_thread_may():
    np.testing.assert_allclose(wg.grad(in_threads)(THETA), [4.0, 2.0])


class Result:
    def __init__(self, value, error):
        self.value, self.error = value, error


def tried(x):
    try:
        return Result(math.sin(x), None)
    except ValueError as error:
        return Result(None, error)


def tried_as_array(x):
    try:
        return Result(np.array([math.sin(x), 1.0]), None)
    except ValueError as error:
        return Result(None, error)


def test_objects_that_hold_such_numbers_are_no_keys():
    """Whoever walks over the keys reads the numbers, which have no derivative there."""

    def f(p):
        numbers = {tried(x): k for k, x in enumerate(p)}
        return sum(result.value * k for result, k in numbers.items())

    def of_arrays(p):
        arrays = {tried_as_array(x): k for k, x in enumerate(p)}
        return sum(result.value[0] * k for result, k in arrays.items())

    with pytest.raises(wg.errors.NoRule, match="which has a derivative, is the key of an entry"):
        wg.gradient(of_arrays, THETA)
    for derivative in (lambda: wg.gradient(f, THETA), lambda: wg.pushforward(f, THETA)[1](THETA)):
        with pytest.raises(
            wg.errors.NoRule, match="which has a derivative, is the key of an entry"
        ) as error:
            derivative()
        assert error.value.code == "WG103"
