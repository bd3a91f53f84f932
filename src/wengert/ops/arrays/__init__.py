"""The vocabulary of arrays, as NumPy has it: what each function is called, and the kind of its result."""
