"""What stands for functions of SciPy."""
