"""What stands for the functions of `scipy.integrate`."""

from .initial_values import EQUIVALENTS as OF_EQUATIONS
from .quadrature import EQUIVALENTS as OF_INTEGRALS

EQUIVALENTS = [*OF_INTEGRALS, *OF_EQUATIONS]
