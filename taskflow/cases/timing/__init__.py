"""The schedule of a run: steps, times, intervals and steady states.

It knows clocks and numbers that a run reports. It does not know the scheduled actions.
"""
