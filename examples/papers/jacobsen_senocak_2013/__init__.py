"""Studies of D. A. Jacobsen and I. Senocak (2013): the lid-driven cavity on many GPUs."""
