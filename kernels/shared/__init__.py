"""What several operator pages use: shapes, loops and formulas that belong to no single operator."""
