"""The laws of operators' pages, which hold for every operator, and valid calls to test them on."""
