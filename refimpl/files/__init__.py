"""Files that are read as hostile input and written whole: openers, checks and atomic writes."""
