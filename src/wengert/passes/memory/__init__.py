"""Where writes in place need copies: the last step before a function is printed."""
