"""SciPy's solvers in programs that are differentiated: run as they are, with the derivative of what they solve."""
