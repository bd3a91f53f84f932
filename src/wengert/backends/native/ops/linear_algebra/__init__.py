"""Products of matrices, factorisations, small systems, signals."""
