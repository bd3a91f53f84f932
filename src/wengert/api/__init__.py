"""The public functions: gradients, linear maps, Jacobians, `jit`; thin, over `compile`."""

from ..loading import later

__getattr__ = later(__name__, "native_forms")
