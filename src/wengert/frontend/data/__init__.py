"""Data that is there before the program runs: tables, text, sets of constants."""
