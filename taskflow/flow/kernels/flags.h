// The flags of cells and faces at bodies: see taskflow/flow/bodies/flags.py.
constexpr int ITSELF = 64, BESIDE = 128, CLOSED = 1 << 12, ISOTHERMAL = 2, KEEPS = 1 << 12, STORED = 1 << 13, HOLDS = 1 << 14;

// Whether face n of a cell (west, east, south, north, below, above) is one of a solid cell
FN bool closed(int solid, int n) { return (solid & (ITSELF | 1 << n)) != 0; }

// The flags of a cell; a None where a launch has no bodies
FN None flags_of(None, Index) { return {}; }
FN int flags_of(InShort flags, Index c) { return flags[c]; }
FN int flags_of(InByte flags, Index c) { return flags[c]; }
FN None operator>>(None, int) { return {}; }

// Flags of faces for a quantity: the other side of face n of a cell, 0 for fluid, and whether the cell is solid and keeps its
// value
FN int behind(None, int) { return 0; }
FN int behind(int kinds, int n) { return kinds >> 2 * n & 3; }
FN bool is_kept(None) { return false; }
FN bool is_kept(int kinds) { return (kinds & KEEPS) != 0; }

// Of the flags of faces: whether the low face of a cell across an axis is one of a body
FN bool is_closed(None, int) { return false; }
FN bool is_closed(int flags, int axis) { return (flags & CLOSED << axis) != 0; }

// Of the flags of cells: whether face n is one of a solid cell, and whether the cell is solid
FN bool is_shut(None, int) { return false; }
FN bool is_shut(int solid, int n) { return closed(solid, n); }
FN bool is_solid(None, Index) { return false; }
FN bool is_solid(InByte solid, Index c) { return (solid[c] & ITSELF) != 0; }
