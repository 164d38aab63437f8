"""Traces: the analysed step of a block, bound to its arrays and recorded as operations that can be replayed."""
