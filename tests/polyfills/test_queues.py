"""Queues of the standard library in one thread: order and ends."""

import math
import queue

import numpy as np
import oracle
import pytest
import trees

import wengert as wg

QUEUES = [queue.Queue, queue.LifoQueue, queue.PriorityQueue, queue.SimpleQueue]


@pytest.mark.parametrize("cls", QUEUES)
def test_what_is_put_in_comes_out_in_its_order(cls):
    def f(x):
        channel = cls()
        channel.put(x)
        channel.put_nowait(2 * x)
        return (
            channel.get() ** 2
            * channel.get_nowait()
            * (1 + channel.qsize())
            * (2 - channel.empty())
        )

    expected = {queue.LifoQueue: 300.0}.get(cls, 150.0)
    assert wg.gradient(f, 5.0) == (expected,)
    assert wg.pushforward(f, 5.0)[1](1.0) == expected
    assert wg.derivative(f, order=2)(5.0) == expected / 2.5


def walked(theta):
    waiting = queue.Queue(maxsize=50)
    waiting.put((0, theta[0]))
    total = 0.0
    while not waiting.empty():
        depth, value = waiting.get()
        total += value
        if depth < 3:
            waiting.put((depth + 1, value * theta[1]))
            waiting.put((depth + 1, math.sin(value)))
        waiting.task_done()
    waiting.join()
    return total


def events(theta):
    agenda = queue.PriorityQueue()
    for i in range(5):
        agenda.put((theta[0] * ((i * 7) % 5), i, theta[1] * i))
    now, total, count = 0.0, 0.0, 5
    while True:
        try:
            when, i, mark = agenda.get_nowait()
        except queue.Empty:
            break
        total += mark * math.exp(-when) * (when - now)
        now = when
        if i < 3 and count < 30:
            agenda.put((when + theta[1], count % 4, mark * 0.5))
            count += 1
    return total


@pytest.mark.parametrize("f", [walked, events])
def test_programs_with_queues(f):
    theta = np.array([0.7, 0.3])
    trees.assert_close(wg.gradient(f, theta), oracle.gradient(f, theta), rel=1e-12)
    slope = wg.pushforward(f, theta)[1](np.array([1.0, -2.0]))
    trees.assert_close(slope, oracle.directional(f, (theta,), (np.array([1.0, -2.0]),)), rel=1e-12)


def test_the_ends_of_queues():
    def overfull(x):
        channel = queue.Queue(1)
        channel.put(x)
        try:
            channel.put(x, timeout=0.1)
        except queue.Full:
            return x * x if channel.full() else x

    def finished_twice(x):
        channel = queue.Queue()
        channel.put(x)
        channel.task_done()
        channel.task_done()
        return x

    assert wg.gradient(overfull, 2.0) == (4.0,)
    with pytest.raises(queue.Empty):
        wg.gradient(lambda x: queue.Queue().get(False) * x, 2.0)
    with pytest.raises(ValueError, match=r"task_done\(\) called too many times"):
        wg.gradient(finished_twice, 2.0)
