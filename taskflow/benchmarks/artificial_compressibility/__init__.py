"""The benchmark of artificial compressibility: stages of its explicit marches. It knows this system, and nothing of others."""
