// The flags of cells and faces at bodies: see taskflow/flow/obstacles/flags.py.
constexpr int ITSELF = 64, BESIDE = 128, CLOSED = 15, HELD = 2, KEEPS = 1 << 12;

// Whether face n of a cell (west, east, south, north, below, above) is one of a solid cell
FN bool closed(int solid, int n) { return (solid & (ITSELF | 1 << n)) != 0; }

// The four bits of a cell's low face across an axis
FN int face_state(int faces, int axis) { return faces >> (4 * axis) & 15; }

// What a face with buried neighbours, where 0 is stored, loses in the Laplacian as each of them shows it minus its own
// velocity
FN real sticking(int state, real here, real inverse_first, real inverse_second) {
  const real first = real(state & 3) * (inverse_first * inverse_first);
  const real second = real(state >> 2) * (inverse_second * inverse_second);
  return (first + second) * here;
}
