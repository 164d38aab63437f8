// Net flow of T out of a cell along one direction, carried by q through both faces.
FN real carried(In T, In q, Index c, Index step, real inverse) {
  return real(0.5) * inverse * (q[c + step] * (T[c] + T[c + step]) - q[c] * (T[c - step] + T[c]));
}
