"""Statements and expressions: one handler for each class of node."""
