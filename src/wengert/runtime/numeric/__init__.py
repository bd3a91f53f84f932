"""Helpers of derivatives that compute: transposes of NumPy's functions, eigenvalues, special functions."""
