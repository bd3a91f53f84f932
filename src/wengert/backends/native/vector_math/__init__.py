"""Elementary functions of vectors as words of the loop form: polynomials, formulas, coefficients."""
