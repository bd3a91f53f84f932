"""Ops that move elements, write them or join arrays."""
