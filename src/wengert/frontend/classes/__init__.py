"""Classes as Python finds things in them: attributes, special methods, what instances of builtins have."""
