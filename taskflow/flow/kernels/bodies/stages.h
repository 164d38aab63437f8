// What bodies take from the fluid in a step, per time: the mean over its stages.
FN real so_far(real push, real taken, real pressure, const StagePart& part) {
  return part.before > 0 ? push + part.now * taken + part.before * pressure : part.now * taken;
}
