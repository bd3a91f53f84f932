"""The vocabulary of what programs do beside computing: containers, memory, checks, identity."""
