"""Curves and surfaces through points, as `scipy.interpolate` has them."""
