// The time scheme: explicit Adams-Bashforth of second order for a step that varies, begun with an Euler step.

// q_new = q + dt ((1 + r/2) H - r/2 H_old), r = dt / dt_old; at the start r = 0, and H_old is not used whatever it
// holds.
struct AdamsBashforth {
  real dt, now, before;
  INLINE explicit AdamsBashforth(In64 ratio) : dt(0), now(real(1.0 + 0.5 * *ratio)), before(real(0.5 * *ratio)) {}
  INLINE AdamsBashforth(In64 step, In64 ratio) : AdamsBashforth(ratio) { dt = real(*step); }
  // What the step takes for H: of the tendency now and that of the stage before
  INLINE real blend(real H, real H_old) const {
    const real old = taken(before != 0, H_old);
    return now * H - before * old;
  }
  INLINE real advance(real q, real H, real H_old) const { return q + dt * blend(H, H_old); }
  // What more of H adds to q_new, where h, which is H_old next time, gains as much
  INLINE real gain(real H) const { return dt * (now * H); }
};
