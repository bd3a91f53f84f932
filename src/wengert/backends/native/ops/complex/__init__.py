"""Complex numbers and arrays."""
