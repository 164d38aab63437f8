// A CPU does all rows of a cell at once, and hands its values to the next one of a row in registers. Values and sums are of a type of
// the text's own, with -=, so that compilers see one vector. What has to be known:
//
//   struct Solve {
//     INLINE auto tile(c) const;                     // a Solve in the tile of a cell
//     INLINE void fetch(c) const;                    // asks for what will be loaded of a cell in the next row,
//     INLINE void fetch_side(c, side) const;         //   and what neighbours in other tiles that come later there bring;
//     INLINE void fetch_values(c) const;             //   of a row of a tile the values, from its first cell on
//     INLINE Values values(index) const;             // of a cell that is done
//     INLINE Values begin(index) const;              // sums before neighbours bring anything
//     INLINE Values brought(c, side, values) const;  // what the neighbour beyond a side brings, which has these values
//     INLINE Values end(c, sums) const;              // the values, which it stores
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
      if (!tiled) t.fetch(next);  // of tiles that lies in the order of the sweep
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
