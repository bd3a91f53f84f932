"""Hitting a target by differentiating through a flight simulation.

A body starts at (1, 0) and falls around a star at the origin. Which launch velocity brings it
to (-1, 0) after 18 steps? The distance missed is an ordinary Python loop; its gradient with
respect to the velocity is the same loop, run backwards by wengert.
"""

import wengert as wg

GM = 0.03
STEPS = 18
RATE = 5e-5


def gravity(x, y):
    cubed = (x * x + y * y) ** 1.5
    return -x / cubed * GM, -y / cubed * GM


def fly(vx, vy):
    x, y = 1.0, 0.0
    for _ in range(STEPS):
        ax, ay = gravity(x, y)
        dx, dy = vx + ax / 2, vy + ay / 2
        ax, ay = gravity(x + dx / 2, y + dy / 2)  # halfway through the step
        x, y = x + dx, y + dy
        vx, vy = vx + ax, vy + ay
    return x, y


def miss(vx, vy):
    x, y = fly(vx, vy)
    return (x + 1) * (x + 1) + y * y


miss_and_gradient = wg.value_and_grad(miss, argnums=(0, 1))
vx, vy = 0.0, 0.15
print("gradient at launch:", wg.gradient(miss, vx, vy))

for trial in range(30):
    missed, (slope_x, slope_y) = miss_and_gradient(vx, vy)
    if trial % 10 == 0:
        print(f"trial {trial:2}: squared miss {missed:.6f}")
    vx, vy = vx - RATE * slope_x, vy - RATE * slope_y

print("final squared miss:", miss(vx, vy))
print("launch velocity:", (vx, vy), "arrives at", fly(vx, vy))
print("\nThe generated gradient of miss:\n")
print(miss_and_gradient.specialize(0.0, 0.15).source)
