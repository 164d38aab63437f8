"""Temperature and passive scalars: their equation, schemes and sources."""
