"""What stands for functions of NumPy."""
