"""Studies after W. Xue and C. J. Roy (2020): artificial compressibility on two devices."""
