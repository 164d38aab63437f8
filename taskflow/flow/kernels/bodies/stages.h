// Momentum taken by bodies from the fluid in a step, per time: the mean over its stages.
FN real so_far(real push, real taken, real pressure, const StagePart& stage) {
  return stage.before > 0 ? push + stage.now * taken + stage.before * pressure : stage.now * taken;
}
