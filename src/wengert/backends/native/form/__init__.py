"""The loop form: its statements and arithmetic, how it reads and prints, value numbering."""
