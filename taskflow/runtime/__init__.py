"""The task runtime: regions of structured grids, tasks with privileges, and their execution on many GPUs.

It knows boxes, fields, launches, blocks and halos. It knows no equation, no file and no case.
"""
