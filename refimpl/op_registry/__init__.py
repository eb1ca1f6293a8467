"""What is known about operators: names, signatures, pages, facts and documentation, made from their pages."""
