"""Recorded runs written out as equations: `runs.listed` over `arrays` (what holds memory) and `equations`."""
