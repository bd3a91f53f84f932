"""Lists and ranges in the loop form: what a program collects, and what grows."""
