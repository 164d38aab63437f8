// Kernels of modes of planes with walls: a GPU thread walks the four lines of a pair of rows.
#define BX 32
#define BY 4
#define UZ 1073741824
#define MODES CosineModes
#define LINES range.hi[0] / 2, range.hi[1] / 2 + 1  // complex numbers of a row, and pairs of rows
#define NAMED(task) task##_dct
