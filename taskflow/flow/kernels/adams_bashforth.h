// The time scheme: explicit Adams-Bashforth of second order for a step that varies, begun with an Euler step.

// q_new = q + dt ((1 + r/2) H - r/2 H_old), r = dt / dt_old; at the start r = 0, and H_old is not used whatever it
// holds.
// (A choice would say so more plainly; beside the choice for walls it keeps compilers from making a vector loop.)
struct AdamsBashforth {
  real dt, now, before;
  Bits used;  // of H_old: all, or none at the start
  INLINE AdamsBashforth(In64 step, In64 ratio)
      : dt(real(*step)), now(real(1.0 + 0.5 * *ratio)), before(real(0.5 * *ratio)), used(*ratio == 0 ? 0 : ~Bits(0)) {}
  INLINE real advance(real q, real H, real H_old) const { return q + dt * (now * H - before * masked(H_old, used)); }
};
