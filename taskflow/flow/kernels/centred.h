// A velocity at the centre of a cell: the mean of its two faces.
FN real centred(In q, Index c, Index step) { return real(0.5) * (q[c] + q[c + step]); }
