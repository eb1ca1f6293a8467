"""A prediction as a PyTorch module: its text, its weights, and the check of both."""
