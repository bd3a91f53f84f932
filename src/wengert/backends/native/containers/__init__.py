"""Lists, tuples and rows of them in the loop form, and what reverse mode keeps."""
