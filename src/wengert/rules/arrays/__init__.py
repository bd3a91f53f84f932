"""The calculus of arrays: linear functions by their transposes, the others by their differentials."""
