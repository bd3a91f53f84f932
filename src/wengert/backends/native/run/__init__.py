"""Compiling, caching and calling machine code: the way in and out, threads, the machine."""
