"""Temperature and passive scalars: their equation, schemes and sources.

They know the velocity on faces, but neither its origin nor bodies.
"""
