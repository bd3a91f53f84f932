"""Whole functions: the handlers of all ops, control flow, calls, results."""
