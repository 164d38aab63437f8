"""Numbers and formulas of a case: values, expressions of place and time, tables, noise, and motions.

They know text and numbers, and how to evaluate them. They do not know tables of a case, nor blocks.
"""
