"""The public functions: gradients, linear maps, Jacobians, `jit`; thin, over `compile`."""
