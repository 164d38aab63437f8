"""Temperature and passive scalars: their equation, schemes and sources.

They know the velocity on faces. They do not know where it comes from, nor bodies.
"""
