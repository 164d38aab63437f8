// The rate of change in real time, rate q - source: q times c0 / dt, less what the levels before leave. Without it nothing of these is
// in the machine code.

FN None number(None) { return {}; }
FN real number(In64 rate) { return real(*rate); }

// What leaves a cell, less what a source gives it
FN real supplied(real leaving, None, real, Index) { return leaving; }
FN real supplied(real leaving, In source, real volume, Index c) { return leaving - volume * source[c]; }

// A residual with the rate of change of what it is of
FN real changing(real residual, None, real) { return residual; }
FN real changing(real residual, real rate, real q) { return residual + rate * q; }
FN Vector changing(Vector residual, None, Vector) { return residual; }
FN Vector changing(Vector residual, real rate, Vector u) { return plus(residual, rate, u); }

// What multiplies q in its balance over a volume: a rate of pseudo-time, and that of real time
FN real both(real pseudo, None, real) { return pseudo; }
FN real both(real pseudo, real rate, real volume) { return pseudo + volume * rate; }

// The end of a stage over dtau, at which the rate of change is taken
FN real slowed(real q, None, real) { return q; }
FN real slowed(real q, real rate, real dtau) { return q * reciprocal(fused(rate, dtau, real(1))); }
FN Vector slowed(Vector u, None, real) { return u; }
FN Vector slowed(Vector u, real rate, real dtau) { return reciprocal(fused(rate, dtau, real(1))) * u; }
