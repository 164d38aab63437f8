"""The benchmarks of artificial compressibility: stages and steps of its marches. They know no other system."""
