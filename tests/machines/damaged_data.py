DATA=None
