// The length of the next step, found where the flow is: operation by operation as Clock, StepLimit and Pace find it, so that
// host and device agree in every bit.
#include "cell.h"

// In the order of LIMITS and STATE of step_clock.py
enum Limit {
  FIXED, CFL, DIFFUSION, SPREAD, FREQUENCY, FALL, LONGEST, BOUNDED, CROSSINGS, SPREADINGS, EULER, DAMPING, LESS,  // StepLimit
  ONCE, VISCOSITY, DIFFUSIVITY, BOUNDED_DIFFUSIVITY, PART,                                                        // DiffusionTerms
  PLANNED, ACCEPTED, RESTING, SANE,                                                                               // Pace, Sanity
  STABLE, ALIKE, SLACK, SPACINGS, SHORTER,                                                                        // StepWatch, WaveWatch
  TARGET, HORIZON, FITS, TINY, SHARE_1, SHARE_2, SHARE_3, LIMITS                                                  // Clock
};
enum State { STOP, GOOD, TIME, DT, BEFORE, NEXT_TIME, NEXT_DT, RATE, STATES };

typedef In64Of<LIMITS> Limits;
static_assert(STATES == 8 && LIMITS == 34, "as in the task");

FN double value(None) { return 0; }
FN double value(In64 number) { return *number; }

FN double allowed(double amount, double rate) { return rate > 0 ? amount / rate : INFINITE; }

// The least whole number from `a` on, for 0 <= a < 2^53
FN double rounded_up(double a) {
  const double whole = double(Index(a));
  return whole < a ? whole + 1 : whole;
}

FN double viscous(const Limits& limit, double eddy) {
  return max(limit[VISCOSITY] + eddy, limit[DIFFUSIVITY] + limit[PART] * eddy);
}

// The longest step, and the longest one without capillary waves
struct Bounds {
  double longest, others;
};

FN Bounds bounds(const Limits& limit, double rate, double eddy, double growing) {
  const double fall = limit[FALL], spread = max(limit[SPREAD], viscous(limit, eddy) * limit[ONCE]);
  const double carried = fall > 0 ? (rate + ROOT(rate * rate + 4 * fall)) / 2 : rate;
  double others = min(min(allowed(limit[CFL], carried + limit[FREQUENCY]), growing), allowed(limit[DIFFUSION], spread));
  if (limit[BOUNDED] >= 0) {
    const double most = max(limit[BOUNDED], (limit[BOUNDED_DIFFUSIVITY] + limit[PART] * eddy) * limit[ONCE]);
    others = min(others, allowed(limit[LESS], limit[EULER] * (limit[CROSSINGS] * rate + limit[SPREADINGS] * most)));
  }
  if (limit[DAMPING] >= 0) others = min(others, allowed(limit[LESS], limit[DAMPING] * carried + 4 * spread));
  return {min(others, limit[LONGEST]), others};
}

// The longest step at whose end a rate that grows evenly has the planned CFL number
FN double growing(const Limits& limit, double rate, double before, double dt) {
  const double cfl = limit[PLANNED] * limit[CFL], growth = (rate - before) / dt;
  return rate <= before ? INFINITE : 2 * cfl / (rate + ROOT(rate * rate + 4 * growth * cfl));
}

// Judges the step that has been done, and plans the next one. `stop`: the host has to take the next one; a step after that
// is not good.
TASK advance_clock(Range range, In cell, In64Of<8> now, In64Of<34> limit, In64 rate_now OPTIONAL(eddy), PartialOf<8> state,
                   Partial dt_1, Partial dt_2, Partial dt_3, Partial ratio) {
  const Partial results[] = {state.of[0], state.of[1], state.of[2], state.of[3], state.of[4], state.of[5],
                             state.of[6], state.of[7], dt_1,        dt_2,        dt_3,        ratio};
  sum_cells(range, results, CELL(c) {
    const double rate = *rate_now, eddies = value(eddy), dt = now[NEXT_DT], time = now[NEXT_TIME];
    const bool fixed = limit[FIXED] > 0;
    if (now[STOP] > 0 || !(rate >= 0 && rate < INFINITE) || !(fixed || dt * rate <= limit[ACCEPTED] * limit[CFL]))
      return Sums<12>{{1, now[GOOD], now[TIME], now[DT], now[BEFORE], time, dt, now[RATE], dt, dt, dt, 1}};

    const Bounds step = bounds(limit, rate, eddies, growing(limit, rate, now[RATE], dt));
    const double longest = fixed ? limit[FIXED] : step.longest, target = limit[TARGET], way = target - time;
    const bool hits = target < INFINITE, clear = longest < INFINITE && (!hits || longest > limit[TINY] * target);
    const double count = hits && clear ? max(1.0, rounded_up(way / longest * limit[FITS])) : INFINITE;
    const double next = hits ? way / count : longest, end = time + next;
    const bool moves = fixed || next * rate > limit[RESTING] * limit[CFL];
    const bool stable = next * (rate + limit[FREQUENCY]) <= limit[STABLE] &&
                        abs(next * viscous(limit, eddies) * limit[SPACINGS] - limit[ALIKE]) <= limit[SLACK];
    const bool quick = fixed || step.longest * limit[SHORTER] >= step.others;
    const bool due = !clear || count <= 1 || !(time < end && end < limit[HORIZON]);
    const double stop = due || !moves || !stable || !quick || !(rate <= limit[SANE]) ? 1 : 0;
    return Sums<12>{{stop, now[GOOD] + 1, time, dt, now[RATE], end, next, rate, limit[SHARE_1] * next, limit[SHARE_2] * next,
                     limit[SHARE_3] * next, next / dt}};
  });
}
