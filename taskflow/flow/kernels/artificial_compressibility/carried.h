// A scalar on a face that a mass flux carries it through: from the upwind side
FN real carried(const Row& T, real mass, const Lying& side, Smallest least) {
#ifdef PRESSURE_DAMPING
  const real inside = mean(T);
#else
  const Sides from = limited(T.a, T.b, T.c, T.d, least);
  const real inside = mass > 0 ? from.low : from.high;
#endif
  return side.kind == INTERIOR ? inside : side.kind == FAR ? (mass > 0 ? T.b : T.c) : mean(T);
}
