#pragma once
// Where the block for the neighbour on a side begins in a cell's row of the matrix: low sides come before high ones, so that what a
// sweep reads lies together.
FN constexpr int block_of(int side) { return 16 * (side >> 1) + (side & 1 ? 48 : 0); }
