"""What a type checker is told of derivatives: read by tests/house/test_typing.py, never run."""

from typing import Any, assert_type

import wengert as wg


def loss(x: float, rate: float = 0.5, *, scale: float = 1.0) -> float:
    return x * rate * scale


slope = wg.grad(loss, "rate")
slope(1.0, rate=2.0, scale=3.0)
slope("text")  # error: an argument of another type
slope(1.0, speed=2.0)  # error: no such argument
assert_type(wg.value_and_grad(loss)(1.0), tuple[float, Any])
assert_type(wg.jit(loss)(1.0, scale=2.0), float)
wg.jit(loss)()  # error: an argument is missing
wg.jit(wg.grad(loss))(None)  # error: an argument of another type
wg.derivative(loss)(1.0).real
wg.hessian(loss)(1.0, 2.0, 3.0)  # error: too many arguments
wg.vmap(loss)(1.0, speed=1.0)  # error: no such argument


@wg.jit
def square(x: float) -> float:
    return x * x


@wg.jit(strict=True)
def cube(x: float) -> float:
    return x**3


assert_type(square(2.0), float)
assert_type(cube(2.0), float)
cube([2.0])  # error: an argument of another type
