"""Builds a kernel and its operator into one library."""

from __future__ import annotations

import pathlib
import subprocess
from typing import Any

import torch

from pragma_model.pack_errors import PackError

# The oldest release of Torch that loads the library (torch/csrc/stable/version.h has the form of this number).
TARGET = (2, 10)
_SECONDS = 900  # a compiler that takes longer is stopped

# Every kernel defines the same functions, so none of them may be seen from outside its own library.
_EXPORTED = "{ global: pragma_operator_*; local: *; };\n"


def build(kernel: dict[str, Any], source: pathlib.Path, operator: pathlib.Path, library: pathlib.Path) -> None:
    """Writes the library. The kernel is compiled with the flags with which it was verified."""
    name = kernel["name"]
    if "clang" in kernel["compiler"] and "-fopenmp" in kernel["flags"]:
        raise PackError(f"kernel {name}: clang's OpenMP would be a second pool of threads beside Torch's")
    scratch = library.with_suffix(".build")
    scratch.mkdir()
    objects = [scratch / "kernel.o", scratch / "operator.o"]
    exported = scratch / "exported"
    exported.write_text(_EXPORTED)
    _run(name, "kernel", [kernel["compiler"], *kernel["flags"], "-std=c++20", "-fPIC", "-c", source, "-o", objects[0]])
    _run(name, "operator", ["g++", *_operator_flags(), "-c", operator, "-o", objects[1]])
    _run(name, "library", ["g++", "-shared", *objects, "-o", library, f"-Wl,--version-script={exported}", *_libraries()])
    for path in [*objects, exported]:
        path.unlink()
    scratch.rmdir()


def _root() -> pathlib.Path:
    return pathlib.Path(torch.__file__).parent


def _operator_flags() -> list[str]:
    version = (TARGET[0] << 56) | (TARGET[1] << 48)
    return ["-O2", "-std=c++20", "-fPIC", f"-DTORCH_TARGET_VERSION={version:#x}", f"-I{_root() / 'include'}"]


def _libraries() -> list[str]:
    """There is no -fopenmp here, although kernels use OpenMP: its functions are then found in the pool of threads that
    libtorch_cpu.so has loaded, whatever its name, and no second one is loaded."""
    return [f"-L{_root() / 'lib'}", "-ltorch_cpu"]


def _run(name: str, what: str, command: list[Any]) -> None:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS)
    except OSError as error:
        raise PackError(f"kernel {name}: {words[0]} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise PackError(f"kernel {name}: the compiler took longer than {_SECONDS} s for the {what}") from error
    if done.returncode != 0:
        said = done.stderr.strip()
        first = next((line for line in said.splitlines() if "error:" in line), f"exit status {done.returncode}")
        raise PackError(f"kernel {name}: the {what} does not compile: {first}", f"{' '.join(words)}\n{said}")
