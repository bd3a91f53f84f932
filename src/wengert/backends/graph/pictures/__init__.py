"""Terms for people to look at: text, LaTeX, DOT, SVG and HTML."""
