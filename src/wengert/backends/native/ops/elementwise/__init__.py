"""Elementwise ops, access to elements, and arrays that are made."""
