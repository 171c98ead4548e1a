"""The parts of ModelNew for a GPU kernel that do not come from the task, for write.py.

KernelBench's evaluator accepts both forms: a CUDA source built by load_inline, and a Triton module whose kernels are in
the file itself, because Triton reads their source.
"""

from __future__ import annotations

import ast
from typing import Any

from pragma_export.text import (
    LOADED,
    Refused,
    build_and_load,
    defined,
    is_text,
    library_call,
    literal,
    one_source,
    ready,
)

# The same flags as in pragma's own build. Torch's own definitions would remove operators of 16-bit types.
_NVCC_FLAGS = [
    "-std=c++20",
    "-O3",
    "-expt-relaxed-constexpr",
    "-U__CUDA_NO_HALF_OPERATORS__",
    "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__",
    "-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
]

_CUDA_LIBRARY = (
    '''

def _pragma_library():
    major, minor = torch.cuda.get_device_capability()
    architecture = f"{major}{minor}" + ("a" if major >= 9 else "")
'''
    + build_and_load(
        name='f"{_PRAGMA_NAME}_{architecture}"',
        cpp_sources='[""]',
        cuda_sources="[_PRAGMA_SOURCE]",
        extra_cuda_cflags='[*_PRAGMA_FLAGS, f"-gencode=arch=compute_{architecture},code=sm_{architecture}"]',
    )
    + "\n"
)

_TRITON_HELPERS = '''

def _pragma_ready(tensor, shape, dtype, name):
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        raise ValueError(f"{name} must be {dtype} {shape}, not {tensor.dtype} {tuple(tensor.shape)}")
    tensor = tensor.detach().contiguous()
    return tensor if tensor.data_ptr() % 16 == 0 else tensor.clone()
'''


class CudaKernel:
    """A CUDA source that ModelNew builds on first use."""

    imports = ("import ctypes", "import torch", "from torch.utils.cpp_extension import load_inline")
    helpers = _CUDA_LIBRARY + ready("cuda", 512) + LOADED
    note = (
        "# The CUDA source below is built on first use by torch.utils.cpp_extension, for the GPU of",
        "# the machine that runs it.",
    )

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request

    def constants(self) -> list[str]:
        request = self._request
        return [
            f"_PRAGMA_NAME = {'pragma_' + request['candidate']!r}",
            f"_PRAGMA_FLAGS = {[*_NVCC_FLAGS, *request['flags']]!r}",
            f"_PRAGMA_SOURCE = {literal(one_source(request['header'], request['kernel']))}",
        ]

    def call(self, arguments: list[str], outputs: list[str]) -> list[str]:
        """Returns the lines of forward from the outputs to the launch."""
        passed = [*arguments, *outputs]
        stream = "ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)"
        scratch = self._request["scratch_bytes"]
        return library_call("pragma_launch", passed, scratch, f", device={passed[0]}.device", stream)


# A tensor descriptor that a kernel makes lies in memory that Triton asks for at each launch.
_TRITON_SCRATCH = """\
def _pragma_scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


triton.set_allocator(_pragma_scratch)
"""


class TritonModule:
    """A Triton module whose functions are in ModelNew's file."""

    helpers = _TRITON_HELPERS
    note = (
        "# Its Triton kernels stand below; Triton compiles those with a warmup when this file is imported,",
        "# for the GPU that is current then, others when they are first called.",
    )

    def __init__(self, request: dict[str, Any]) -> None:
        tree = ast.parse(request["kernel"])
        if any(isinstance(node, ast.Pass) for node in ast.walk(tree)):
            raise Refused("the module has `pass`, which KernelBench's static check refuses in solutions")
        self._body = [n for n in tree.body if not is_text(n) and not isinstance(n, ast.Import | ast.ImportFrom)]
        self.imports = ("import torch", *(ast.unparse(n) for n in tree.body if _is_import(n)))

    def constants(self) -> list[str]:
        texts = [ast.unparse(_without_text(node)) for node in self._body]
        scratch = [_TRITON_SCRATCH] if any("make_tensor_descriptor" in text for text in texts) else []
        return ["\n\n".join([*scratch, *texts]), "", "_pragma_run = run"]

    def names(self) -> set[str]:
        """Returns the names that it defines at its top level."""
        return defined(self._body)

    def call(self, arguments: list[str], outputs: list[str]) -> list[str]:
        return [f"_pragma_run({', '.join([*arguments, *outputs])})"]


def _is_import(node: ast.stmt) -> bool:
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return isinstance(node, ast.Import | ast.ImportFrom) and not future


def _without_text(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.FunctionDef) and len(node.body) > 1 and is_text(node.body[0]):
        del node.body[0]
    return node
