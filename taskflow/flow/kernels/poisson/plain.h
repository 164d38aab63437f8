// Kernels of modes of periodic planes: each number of a row has its own line.
#define BX 64
#define BY 1
#define UZ 1073741824
#define MODES PlainModes
#define LINES range.hi[0], range.hi[1]  // numbers of a row, and rows
#define NAMED(task) task
