"""The CUDA compilers of both toolkits that taskflow supports, on machines that may have no GPU."""

from __future__ import annotations

from ctypes import CDLL, byref, c_char_p, c_size_t, c_void_p, create_string_buffer
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from taskflow.runtime.machine.kernel.compile_cuda import OPTIONS

ARCHITECTURE = "--gpu-architecture=compute_90"


@cache
def compilers() -> dict[str, CDLL]:
    """NVRTC by the version of its toolkit, of the wheels that are installed."""
    spec = find_spec("nvidia")
    places = map(Path, spec.submodule_search_locations or ()) if spec else ()
    files = (file for place in places for file in place.glob("*/lib/libnvrtc.so.1[23]"))
    return {version: CDLL(str(file)) for version, file in sorted((file.suffix[1:], file) for file in files)}


@cache
def messages(text: str) -> str:
    """What any of them says of a text that it refuses."""
    refused = {version: refusal(nvrtc, text) for version, nvrtc in compilers().items()}
    return "".join(f"CUDA {version}: {said}" for version, said in refused.items() if said)


def refusal(nvrtc: CDLL, text: str) -> str:
    """What a compiler says of a text; nothing where it takes it."""
    program, size, options = c_void_p(), c_size_t(), [option.encode() for option in (*OPTIONS, ARCHITECTURE)]
    nvrtc.nvrtcCreateProgram(byref(program), text.encode(), b"kernel.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, byref(size))
    log = create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(byref(program))
    return log.value.decode() if failed else ""
