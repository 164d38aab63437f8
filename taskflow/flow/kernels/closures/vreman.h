// nu_t = C (B / (alpha_ij alpha_ij))^(1/2): B, the second invariant of the matrix beta of the paper, is the sum of the
// squares of the minors of the changes over a cell (Cauchy and Binet), which loses no digits where B is 0.
FN real viscosity(const Closure& model, const Local& q) {
  const real B = (minors(q.change, 0) + minors(q.change, 1)) + minors(q.change, 2);
  return model.constant * root(B * reciprocal(larger(squares(q.gradient), real(LEAST))));
}
