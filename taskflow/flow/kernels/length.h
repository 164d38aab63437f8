// Steps of conjugate gradients, from what has been reduced.

// What would be 0 / 0 is 0: then there is nothing left to do.
FN double quotient(double above, double below) { return below != 0 ? above / below : 0; }

// How far to go along d = z - (zAd / dAd) d: rz / d Laplacian(d), of the new d
FN real length(In64 rz, In64 zAz, In64 zAd, In64 dAd) { return real(quotient(*rz, *zAz - quotient(*zAd * *zAd, *dAd))); }
