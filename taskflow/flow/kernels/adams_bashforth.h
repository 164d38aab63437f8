// The time scheme: explicit Adams-Bashforth of second order for a step that varies, begun with an Euler step.

// q_new = q + dt ((1 + r/2) H - r/2 H_old), r = dt / dt_old; in the first step r = 0, and H_old is not used.
struct AdamsBashforth {
  real dt, now, before;
  INLINE explicit AdamsBashforth(In64 ratio) : dt(0), now(real(1.0 + 0.5 * *ratio)), before(real(0.5 * *ratio)) {}
  INLINE AdamsBashforth(In64 step, In64 ratio) : AdamsBashforth(ratio) { dt = real(*step); }
  // Weights of the current tendency and of the previous stage's tendency in a step
  INLINE real blend(real H, real H_old) const {
    const real old = taken(before != 0, H_old);
    return now * H - before * old;
  }
  INLINE real advance(real q, real H, real H_old) const { return q + dt * blend(H, H_old); }
  // Contribution of an addition to H to q_new, where h, the next H_old, gains as much
  INLINE real gain(real H) const { return dt * (now * H); }
};
