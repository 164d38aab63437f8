/// # Flags that are written
/// OutByte, OutShort, InOutByte, InOutShort: fields of flags declared `Write` and `ReadWrite`
// Flags that a kernel writes, where a task has such fields.
typedef unsigned char* __restrict__ OutByte;
typedef unsigned short* __restrict__ OutShort;
typedef unsigned char* __restrict__ InOutByte;
typedef unsigned short* __restrict__ InOutShort;
