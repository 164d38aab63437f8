"""The language of case files: tables, entries, and the problems of a case."""
