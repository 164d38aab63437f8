// b in a cell, or on the face between two
FN real compressible(None, const Numbers& n, Index, Index) { return n.compressibility; }
FN real compressible(In b, const Numbers&, Index one, Index other) { return real(0.5) * (b[one] + b[other]); }
