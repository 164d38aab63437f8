"""Runs: a case becomes a model, its blocks are driven step by step, and their records are written.

It knows cases, schedules, checkpoints and run directories. It does not know how equations are solved, nor the terminal.
"""
