"""Shapes, loops and formulas that several operator pages use."""
