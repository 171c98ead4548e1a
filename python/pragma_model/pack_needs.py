"""The processor features that a kernel's library needs."""

from __future__ import annotations

import functools
import subprocess
from typing import Any

# The compiler's macro for a feature, and the feature's name in /proc/cpuinfo.
_MACROS = {
    "__AVX__": "avx",
    "__AVX2__": "avx2",
    "__FMA__": "fma",
    "__F16C__": "f16c",
    "__BMI__": "bmi1",
    "__BMI2__": "bmi2",
    "__LZCNT__": "abm",
    "__MOVBE__": "movbe",
    "__SSE4A__": "sse4a",
    "__GFNI__": "gfni",
    "__VAES__": "vaes",
    "__AVX512F__": "avx512f",
    "__AVX512BW__": "avx512bw",
    "__AVX512CD__": "avx512cd",
    "__AVX512DQ__": "avx512dq",
    "__AVX512VL__": "avx512vl",
    "__AVX512IFMA__": "avx512ifma",
    "__AVX512VBMI__": "avx512vbmi",
    "__AVX512VBMI2__": "avx512_vbmi2",
    "__AVX512BITALG__": "avx512_bitalg",
    "__AVX512VPOPCNTDQ__": "avx512_vpopcntdq",
    "__AVX512VNNI__": "avx512_vnni",
    "__AVX512BF16__": "avx512_bf16",
    "__AVX512FP16__": "avx512_fp16",
    "__AVXVNNI__": "avx_vnni",
    "__AMX_TILE__": "amx_tile",
    "__AMX_BF16__": "amx_bf16",
    "__AMX_INT8__": "amx_int8",
}


def needs_of(kernel: dict[str, Any]) -> list[str]:
    """Returns what the source needs by name, and what its flags let the compiler use: -march=native is every feature of
    the machine that builds."""
    enabled = _enabled(kernel["compiler"], tuple(flag for flag in kernel["flags"] if flag.startswith("-m")))
    return sorted({*kernel["needs"], *enabled})


@functools.cache
def _enabled(compiler: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    command = [compiler, *flags, "-dM", "-E", "-x", "c++", "/dev/null"]
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True).stdout
    defined = {line.split()[1] for line in said.splitlines() if line.startswith("#define ")}
    return tuple(name for macro, name in _MACROS.items() if macro in defined)
