"""A GPU that is played on the host: what this package uses of CuPy, with memory that is this process's own.

It shows addresses, sizes and the order of calls. Of kernels, streams and real graphics memory it says nothing.
"""

# ruff: noqa: N802, N815  as CUDA writes its names

import ctypes
from types import SimpleNamespace

import numpy as np

HANDLE = 64  # bytes


class CudaError(RuntimeError):
    """An error of the runtime, by number or word."""

    def __init__(self, status):
        super().__init__(f"cudaError{status}")
        self.status = status


class GpuArray(np.ndarray):
    """An array with its address where CuPy has it."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.array(self)


class Memory:
    """Memory of one GPU: what was asked for, what was given back, and what others have opened."""

    CUDARuntimeError = CudaError
    memcpyDeviceToHost = 2

    def __init__(self, room=1 << 20, uuid=b"a"):
        self.room, self.uuid, self.held, self.opened, self.done = room, uuid, {}, [], []
        self.refused = set()  # handles that cannot be opened

    def malloc(self, nbytes):
        if nbytes > self.room - sum(map(len, self.held.values())):
            raise CudaError("MemoryAllocation")
        memory = np.full(nbytes, 7, np.uint8)  # not zero
        self.held[memory.ctypes.data] = memory
        return memory.ctypes.data

    def free(self, pointer):
        del self.held[pointer]

    def memset(self, pointer, value, nbytes):
        ctypes.memset(pointer, value, nbytes)

    def memGetInfo(self):
        return self.room - sum(map(len, self.held.values())), self.room

    def memcpyAsync(self, target, source, nbytes, kind, stream):
        self.done.append(nbytes)
        ctypes.memmove(target, source, nbytes)

    def getDeviceProperties(self, ordinal):
        return {"uuid": self.uuid.ljust(16, b"\0"), "name": b"played"}

    def ipcGetMemHandle(self, pointer):
        return pointer.to_bytes(8, "little").rjust(HANDLE, b"\1")

    def ipcOpenMemHandle(self, handle):
        pointer = int.from_bytes(handle[-8:], "little")
        if pointer in self.refused:
            raise CudaError("MapBufferObjectFailed")
        self.opened.append(pointer)
        return pointer

    def ipcCloseMemHandle(self, pointer):
        self.opened.remove(pointer)

    def deviceEnablePeerAccess(self, ordinal):
        if ordinal in self.refused:
            raise CudaError("PeerAccessUnsupported")
        if ordinal in self.opened:
            raise CudaError("PeerAccessAlreadyEnabled")
        self.opened.append(ordinal)


def played_cupy(memory):
    """CuPy, as far as devices use it."""
    stream = SimpleNamespace(ptr=0, synchronize=lambda: None)
    return SimpleNamespace(
        ndarray=lambda shape, dtype, at: at.view(dtype).reshape(shape),
        get_default_memory_pool=lambda: SimpleNamespace(free_all_blocks=lambda: None),
        cuda=SimpleNamespace(
            runtime=memory,
            Device=_Device,
            Stream=lambda **_: stream,
            UnownedMemory=_unowned,
            MemoryPointer=lambda memory, offset: memory,
            alloc_pinned_memory=_Pinned,
        ),
    )


class _Device:
    def __init__(self, ordinal=0):
        self.id = ordinal

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def _unowned(pointer, nbytes, owner, device):
    bytes_there = (ctypes.c_ubyte * nbytes).from_address(pointer)
    bytes_there.owner = owner  # NumPy keeps what it looks at
    return np.frombuffer(bytes_there, np.uint8).view(GpuArray)


class _Pinned(bytearray):
    @property
    def ptr(self):
        return ctypes.addressof((ctypes.c_char * len(self)).from_buffer(self))
