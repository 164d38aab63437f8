"""How fast a march by artificial compressibility is: `taskflow bench residual` and `taskflow bench ssspnt`."""
