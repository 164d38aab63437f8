// nu_t = (C Delta)^2 |S|, square being C^2
FN real viscosity(const Closure& model, const Local& q) { return q.filter_square * model.square * root(strain(q.gradient)); }
