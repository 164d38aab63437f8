"""The benchmark of two phases: an air bubble that rises in water, as M. Griebel and P. Zaspel timed it.

It knows their system; nothing of other systems.
"""
