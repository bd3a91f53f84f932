"""How calls of wengert's own functions are read inside a program that is differentiated."""
