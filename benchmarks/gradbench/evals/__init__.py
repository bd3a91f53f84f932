"""The objectives of GradBench's evals, as an ordinary user writes them, and their derivatives."""
