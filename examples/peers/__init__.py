"""Other codes on the flow of `taskflow bench step --case taylor-green`, and taskflow itself in use.

Knows the flow and how a code is timed. Each module runs one code, which is an optional package.
"""
