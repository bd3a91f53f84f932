"""Reverse mode: from a function to its gradient or its pullback."""
