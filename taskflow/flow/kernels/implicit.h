// The number of the direction along which diffusion is implicit, and left out of tendencies: -1 where there is none.
#if defined(IMPLICIT_X)
#define IMPLICIT 0
#elif defined(IMPLICIT_Y)
#define IMPLICIT 1
#elif defined(IMPLICIT_Z)
#define IMPLICIT 2
#else
#define IMPLICIT -1
#endif
