"""Networks that leave for other frameworks."""
