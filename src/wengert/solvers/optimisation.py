"""What stands for the functions of `scipy.optimize`."""

from .minima import EQUIVALENTS as OF_MINIMA
from .roots_of_functions import EQUIVALENTS as OF_ROOTS

EQUIVALENTS = [*OF_ROOTS, *OF_MINIMA]
