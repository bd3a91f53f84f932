"""What comes in from outside: the kinds of arguments, their leaves, tables, libraries that only show or hold data."""
