"""Questions about a function in IR: what is active, written, unbound, real."""
