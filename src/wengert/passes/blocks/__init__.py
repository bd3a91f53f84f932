"""Blocks of equations, whatever they are about: loops part by part, copies, and what nobody needs left out."""
