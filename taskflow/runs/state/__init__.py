"""The state in which a run begins: set up from a case, or restarted."""
