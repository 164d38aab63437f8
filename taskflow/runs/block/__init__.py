"""A run on one block: the loop of steps, recording, checkpoints, sanity."""
