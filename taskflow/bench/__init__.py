"""Benchmarks: measurements of this machine and of taskflow on it, and the tables of the documentation.

It knows the rooms below it, and how to time them. Nothing imports it: the command finds it by name.

`machine` has measurements without a flow. Each system of equations has its own package (`projection`, `two_phase`).
"""
