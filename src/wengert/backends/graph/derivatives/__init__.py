"""Derivatives of terms as terms: forward and reverse by the rules' rows, and their normal form."""
