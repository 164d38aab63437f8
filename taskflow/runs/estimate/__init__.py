"""The memory, time and number of steps of a run, before it is computed."""
