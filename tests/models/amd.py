"""An eddy viscosity of another package: anisotropic minimum dissipation (AMD).

    nu_t = C max(0, -(h_k d_k u_i) (h_k d_k u_j) S_ij) / (d_l u_m d_l u_m)

h_k are the spacings, and S is the symmetric part of the velocity gradient. nu_t is 0 in laminar shear.
W. Rozema, H. J. Bae, P. Moin, R. Verstappen 2015, Phys. Fluids 27, 085107, equation 23.
"""

from dataclasses import dataclass

from taskflow.extend import Closure

KERNEL = """
FN real viscosity(const Closure& model, const Local& q) {
  const auto& g = q.gradient.of;
  const auto& d = q.change.of;
  real produced = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const real strain = (g[i][j] + g[j][i]) / 2;
      produced -= (d[i][0] * d[j][0] + d[i][1] * d[j][1] + d[i][2] * d[j][2]) * strain;
    }
  return model.constant * larger(produced, real(0)) * reciprocal(larger(squares(q.gradient), real(LEAST)));
}
"""


@dataclass(frozen=True)
class MinimumDissipation(Closure):
    """The default constant suits central differences of second order (Rozema et al., section IV)."""

    constant: float = 0.3

    title = "AMD"
    functions = KERNEL
    filtered = False
    dimensionless = True
