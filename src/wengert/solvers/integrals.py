"""What stands for the functions of `scipy.integrate`."""

from ..frontend.polyfills.scipy.integrate import EQUIVALENTS as OF_SAMPLES
from ..intrinsics.roots import stands_for_solver
from .initial_values import EQUIVALENTS as OF_EQUATIONS
from .quadrature import EQUIVALENTS as OF_INTEGRALS

EQUIVALENTS = [*OF_SAMPLES, *OF_INTEGRALS, *OF_EQUATIONS]

for _, _equivalent in (*OF_INTEGRALS, *OF_EQUATIONS):
    stands_for_solver(_equivalent)
