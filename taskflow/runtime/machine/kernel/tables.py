"""Tables of kernels' constants, as devices have them: uploaded once, kept as long as the device is."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.runtime.machine.device import Array, Device
from taskflow.runtime.tasks import Table

_lock = threading.Lock()
_uploaded: WeakKeyDictionary[Device, dict[tuple[Table, np.dtype], Array]] = WeakKeyDictionary()


def table_address(table: Table, real: np.dtype, device: Device) -> int:
    """Where on a device the number 0 of a table is, or would be."""
    with _lock:
        arrays = _uploaded.setdefault(device, {})
        if (table, real) not in arrays:
            array = arrays[table, real] = device.allocate((len(table.values),), real)
            array[...] = device.xp.asarray(np.array(table.values, real))
            device.synchronize()  # kernels on other streams read it
    return device.pointer(arrays[table, real]) - table.first * real.itemsize
