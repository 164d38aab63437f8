"""Studies after L. Luo et al. (2014): implicit marching on many cores."""
