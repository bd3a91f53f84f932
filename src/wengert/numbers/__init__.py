"""Numbers that carry derivatives: they go through any code that computes with numbers."""

from __future__ import annotations

from .dual import Directions as Directions
from .dual import Dual as Dual
from .forward import derivative as derivative
from .forward import gradient as gradient
from .forward import jacobian as jacobian
from .forward import pushforward as pushforward
from .iterations import conjugate_gradient_ascent as conjugate_gradient_ascent
from .iterations import conjugate_gradient_descent as conjugate_gradient_descent
from .iterations import constrained_descent as constrained_descent
from .iterations import extremum as extremum
from .iterations import fixed_point as fixed_point
from .iterations import gradient_ascent as gradient_ascent
from .iterations import gradient_descent as gradient_descent
from .iterations import halley as halley
from .iterations import inverse as inverse
from .iterations import newton as newton
from .iterations import stochastic_gradient_descent as stochastic_gradient_descent
from .series.taylor import Taylor as Taylor
from .series.towers import Partials as Partials
from .series.towers import derivatives as derivatives
from .series.towers import must_be_order as must_be_order
from .series.towers import partials as partials
from .series.towers import taylor as taylor
