"""What the flow carries: temperature and passive scalars, their equation, schemes and sources."""
