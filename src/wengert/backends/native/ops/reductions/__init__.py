"""Reductions, scans, sorting and tables."""
