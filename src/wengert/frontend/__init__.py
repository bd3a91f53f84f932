"""Python source → IR: an interpreter of the syntax tree over kinds of values (see ARCHITECTURE.md).

`read` has the entrances. In come functions and the kinds of their arguments, out go `ir.Function` and guards.
"""
