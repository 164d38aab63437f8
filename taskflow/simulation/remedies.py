"""What a user can do about a run directory, in the words of the command and of a call: one message serves both."""

OUTPUT = "-o, or output= in Python"
FORCE = "--force, or force=True"
AGAIN = f"begin again ({FORCE}), or into another directory ({OUTPUT})"
