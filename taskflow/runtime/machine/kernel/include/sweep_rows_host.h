// A CPU does all rows of a cell together, and passes its values to the next one of a row in registers. Values and sums have a type
// of the text, with -=, so that compilers see one vector. Interface of a solve:
//
//   struct Solve {
//     INLINE auto tile(c) const;                     // a Solve in the tile of a cell
//     INLINE void fetch(c) const;                    // prefetches the data of a cell in the next row,
//     INLINE void fetch_side(c, side) const;         //   and the data of neighbours in other tiles there;
//     INLINE void fetch_values(c) const;             //   the values of a row of a tile, from its first cell on
//     INLINE Values values(index) const;             // of a finished cell
//     INLINE Values begin(index) const;              // sums without neighbours
//     INLINE Values brought(c, side, values) const;  // the term of the neighbour beyond a side, with these values
//     INLINE Values end(c, sums) const;              // the values, which it also stores
//   };
template <class D, class T>
FN void sweep_rows(const Range& r, const Sweep& s, D way, const T& whole) {
#if defined(SINGLE) || defined(WHOLE)
  constexpr bool tiled = false;
#else
  constexpr bool tiled = true;
#endif
  constexpr int low = D::way < 0;
  sweep_ahead(r, s, way, [=](const SweptCell& cell) __attribute__((always_inline)) {
    const auto t = whole.tile(cell);
    const auto row = [=](const SweptCell& c, const SweptCell& next) __attribute__((always_inline)) {
      if (tiled) t.fetch_values(next);
      return t.values((c.sides & ~c.outside) >> low & 1 ? c + beyond(r, low) : Index(c));
    };
    const auto one = [=](const SweptCell& c, const SweptCell& next, const auto& before) __attribute__((always_inline)) {
      if (!tiled) t.fetch(next);  // tiles are stored in the order of the sweep
      for (int side = 1 - low; side < 6; side += 2)
        if (next.outside >> side & 1) t.fetch_side(next, side);
      auto sums = t.begin(c);
      if (c.outside) {
#pragma GCC unroll 6
        for (int side = 0; side < 6; ++side)
          if (c.outside >> side & 1) sums -= t.brought(c, side, t.values(c + beyond(r, side)));
      }
      const unsigned inside = c.sides & ~c.outside;
      if (inside >> low & 1) sums -= t.brought(c, low, before);
#pragma GCC unroll 2
      for (int side = 2 + low; side < 6; side += 2)
        if (inside >> side & 1) sums -= t.brought(c, side, t.values(c + beyond(r, side)));
      return t.end(c, sums);
    };
    return tile_function(row, one);
  });
}
