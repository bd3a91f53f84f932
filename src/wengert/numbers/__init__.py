"""Numbers that carry derivatives: they go through any code that computes with numbers."""

from __future__ import annotations

from .dual import Directions as Directions, Dual as Dual
from .forward import (
    derivative as derivative,
    gradient as gradient,
    jacobian as jacobian,
    pushforward as pushforward,
)
from .iterations import (
    conjugate_gradient_ascent as conjugate_gradient_ascent,
    conjugate_gradient_descent as conjugate_gradient_descent,
    constrained_descent as constrained_descent,
    extremum as extremum,
    fixed_point as fixed_point,
    gradient_ascent as gradient_ascent,
    gradient_descent as gradient_descent,
    halley as halley,
    inverse as inverse,
    newton as newton,
    stochastic_gradient_descent as stochastic_gradient_descent,
)
from .series.taylor import Taylor as Taylor
from .series.towers import (
    Partials as Partials,
    derivatives as derivatives,
    must_be_order as must_be_order,
    partials as partials,
    taylor as taylor,
)
