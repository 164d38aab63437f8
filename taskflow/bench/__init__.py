"""Benchmarks: measurements of a machine, and of taskflow on it, for its users.

It knows everything below it, and how to time it. Nothing imports it: the command finds it by its name.
`machine` measures without a flow; each system of equations has its own package (`projection`).
"""
