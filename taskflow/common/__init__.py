"""Errors, text, units, files and caching for all rooms. It knows none of them."""
