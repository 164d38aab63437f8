"""When something is due: steps, times and intervals of a run, and when it is steady.

It knows clocks and numbers that a run reports. It does not know the scheduled actions.
"""
