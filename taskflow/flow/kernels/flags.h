// The flags of cells and faces at bodies: see taskflow/flow/obstacles/flags.py.
constexpr int ITSELF = 64, BESIDE = 128, CLOSED = 1 << 12, HELD = 2, KEEPS = 1 << 12;

// Whether face n of a cell (west, east, south, north, below, above) is one of a solid cell
FN bool closed(int solid, int n) { return (solid & (ITSELF | 1 << n)) != 0; }
