"""What a value is while a program is lowered: scalars, views, complex numbers, their promotion and arithmetic."""
