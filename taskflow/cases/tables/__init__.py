"""The tables of a case file, one module each, with the rules between them."""
