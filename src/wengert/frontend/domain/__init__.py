"""The values that the interpreter computes with, and the kinds of Python's and NumPy's numbers."""
