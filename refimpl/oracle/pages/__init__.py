"""The laws of operators' pages: what holds for every operator, and valid calls to try it on."""
