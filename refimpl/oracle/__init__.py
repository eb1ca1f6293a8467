"""Property-based testing of other implementations against this one."""
