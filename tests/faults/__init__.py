"""Every call of the system fails once, and every promise is asked after it."""
