"""How ops are lowered, a module for each family."""
