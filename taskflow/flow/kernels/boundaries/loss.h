// The loss of a vent: what a pressure k s^2 / 2 on the face takes from the outward speed s in a step, k being `loss` where fluid
// leaves and 1 + `loss` where it enters. It is implicit in the speed to which it applies, which has gained `back` from the last
// pressure.
FN real slowed(real q_new, real back, real q, real drag, const Opening& opening, const Loss& loss) {
  const real speed = opening.sign * q, k = speed > 0 ? loss.loss : loss.loss + 1, d = drag * k * (speed > 0 ? speed : -speed);
  return q_new - (q_new + back) * (d / (1 + d));
}
