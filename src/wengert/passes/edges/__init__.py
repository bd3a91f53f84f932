"""Derivatives at the edges: infinite partials, what a selection drops, squares of kinks, equal eigenvalues."""
