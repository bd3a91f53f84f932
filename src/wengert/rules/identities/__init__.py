"""Identities of algebra, and how equations become simpler by them as they are built."""
