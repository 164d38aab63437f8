// Cells that are beside no wall across x or y
FN Amid amid(const Grid& grid) {
  Amid found;
  for (int n = 0; n < 2; ++n) {
    found.low[n] = grid.first[n] + 1, found.high[n] = grid.last[n] <= grid.first[n] ? 1 << 30 : grid.last[n] - 1;
  }
  return found;
}
