"""A function of thirty lines, loops and branches and arrays, for `startup.py`."""

import numpy as np


def damage(stiffness, damping, load, times):
    """The wear of a damped oscillator that a load excites: a number."""
    position = 0.0
    velocity = 0.0
    wear = 0.0
    previous = 0.0
    limit = 0.8
    for time in times:
        step = time - previous
        previous = time
        drive = np.sum(load * np.cos(time * np.arange(len(load))))
        if position > limit:
            contact = (position - limit) ** 2
            wear = wear + step * contact
        elif position < -limit:
            contact = -((position + limit) ** 2)
            wear = wear - step * contact
        else:
            contact = 0.0
        spring = -stiffness * position
        friction = -damping * velocity
        force = drive + spring + friction - contact
        velocity = velocity + step * force
        position = position + step * velocity
        energy = velocity**2 + stiffness * position**2
        wear = wear + 1e-3 * step * energy / (1.0 + energy)
    mean_load = np.mean(load)
    spread = np.sqrt(np.mean((load - mean_load) ** 2) + 1e-6)
    roughness = np.tanh(spread / (1.0 + abs(mean_load)))
    penalty = 1e-2 * (stiffness - 1.0) ** 2 + 1e-2 * damping**2
    return wear * (1.0 + roughness) + penalty


ARGUMENTS = (1.5, 0.2, np.array([0.4, 1.1, 0.3]), np.linspace(0.1, 6.0, 60))
