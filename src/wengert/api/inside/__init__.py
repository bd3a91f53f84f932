"""How calls of the public functions are read inside programs, where that takes more than a line."""
