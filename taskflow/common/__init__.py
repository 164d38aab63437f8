"""Errors, text, units, files, caching: for every room. It knows none of them."""
