"""Graph: the launches of one call as a CUDA graph, which can be moved to tensors at other addresses.

A graph holds the parameters of its kernels as they were when it was captured, addresses of tensors among them. CUDA lets
the parameters of an instantiated graph be set anew (cuGraphExecKernelNodeSetParams). That takes a microsecond or two for a
kernel, less than its launch.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import torch

_KERNEL, _MEMSET, _EMPTY = 0, 2, 5  # kinds of nodes (CUgraphNodeType)
_ADDRESS_BYTES = 8


class _Kernel(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("parameters", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    )


class _Memset(ctypes.Structure):
    """CUDA_MEMSET_NODE_PARAMS of cuda.h."""

    _fields_ = (
        ("address", ctypes.c_uint64),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("element_bytes", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class _Unmovable(Exception):
    """The reason why a graph cannot be moved."""


@dataclasses.dataclass(frozen=True)
class Ranges:
    """The bytes that some tensors take, as (first, end)."""

    of: tuple[tuple[int, int], ...]

    @staticmethod
    def of_tensors(tensors: Sequence[torch.Tensor]) -> Ranges:
        """The tensors are contiguous."""
        return Ranges(tuple((t.data_ptr(), t.data_ptr() + t.numel() * t.element_size()) for t in tensors))

    def find(self, address: int) -> int | None:
        """Returns the tensor in which an address lies. Raises _Unmovable where it lies in several."""
        found = [i for i, (first, end) in enumerate(self.of) if first <= address < end]
        if len(found) > 1:
            raise _Unmovable("tensors share memory")
        return found[0] if found else None


@dataclasses.dataclass
class _Node:
    """A kernel in a graph."""

    handle: ctypes.c_void_p
    kernel: _Kernel
    values: list[Any]  # its parameters, to which `kernel` points
    parameters: Any  # the array of pointers


@dataclasses.dataclass(frozen=True)
class _Use:
    """Where a kernel takes an address within a tensor."""

    node: _Node
    value: ctypes.c_uint64
    offset: int  # bytes from the tensor's first


class Graph:
    """What was captured of one call."""

    def __init__(self, captured: torch.cuda.CUDAGraph, tensors: Sequence[torch.Tensor]) -> None:
        """`captured` was made by `new_capture`, and ended. Its launches read and write the tensors."""
        self._captured = captured
        self._addresses = tuple(tensor.data_ptr() for tensor in tensors)
        self._uses: list[list[_Use]] = []  # by tensor
        self.fixed = ""  # why it cannot be moved
        if not can_move():
            self.fixed = "Torch does not show its graphs"
            return
        captured.instantiate()
        try:
            self._uses = _uses(captured.raw_cuda_graph(), Ranges.of_tensors(tensors))
        except _Unmovable as why:
            self.fixed = str(why)
            return
        self._exec = ctypes.c_void_p(captured.raw_cuda_graph_exec())

    def replay(self, addresses: tuple[int, ...]) -> None:
        """Launches the call on tensors at these addresses. Where they differ from the last ones, the graph must not be
        fixed. Raises RuntimeError where CUDA refuses; the graph must not be used any more then."""
        if addresses != self._addresses:
            self._move(addresses)
        self._captured.replay()

    def _move(self, addresses: tuple[int, ...]) -> None:
        changed: dict[int, _Node] = {}
        for uses, old, new in zip(self._uses, self._addresses, addresses, strict=True):
            if old == new:
                continue
            for use in uses:
                use.value.value = new + use.offset
                changed[id(use.node)] = use.node
        driver = _driver()
        for node in changed.values():
            _do(driver.cuGraphExecKernelNodeSetParams_v2(self._exec, node.handle, ctypes.byref(node.kernel)))
        self._addresses = addresses


def new_capture() -> torch.cuda.CUDAGraph:
    return torch.cuda.CUDAGraph(keep_graph=True) if can_move() else torch.cuda.CUDAGraph()


@functools.cache
def can_move() -> bool:
    """Says whether this Torch shows its graphs, and the GPU's driver is CUDA's."""
    return hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph_exec") and _driver() is not None


@functools.cache
def _driver() -> Any:
    """Returns CUDA's driver, or None where there is none that has the functions (12.4 is the first)."""
    handle, pointer = ctypes.c_void_p, ctypes.c_void_p
    functions = {
        "cuGraphGetNodes": [handle, pointer, pointer],
        "cuGraphNodeGetType": [handle, pointer],
        "cuGraphKernelNodeGetParams_v2": [handle, pointer],
        "cuGraphMemsetNodeGetParams": [handle, pointer],
        "cuFuncGetParamInfo": [handle, ctypes.c_size_t, pointer, pointer],
        "cuGraphExecKernelNodeSetParams_v2": [handle, handle, pointer],
    }
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        for name, types in functions.items():
            getattr(driver, name).argtypes = types
    except (OSError, AttributeError):
        return None
    return driver


def _do(code: int) -> None:
    if code != 0:
        raise RuntimeError(f"CUDA cannot move a graph: error {code}")


def _uses(graph: int, tensors: Ranges) -> list[list[_Use]]:
    """Returns where the kernels of a graph take addresses of each tensor. Raises _Unmovable where that cannot be told."""
    found: list[list[_Use]] = [[] for _ in tensors.of]
    for handle in _nodes(graph):
        kind = ctypes.c_int()
        _do(_driver().cuGraphNodeGetType(handle, ctypes.byref(kind)))
        if kind.value == _KERNEL:
            node = _node(handle)
            for value in node.values:
                if isinstance(value, ctypes.c_uint64) and (tensor := tensors.find(value.value)) is not None:
                    found[tensor].append(_Use(node, value, value.value - tensors.of[tensor][0]))
        elif kind.value == _MEMSET:
            _check_memset(handle, tensors)
        elif kind.value != _EMPTY:
            raise _Unmovable("it has a node other than a kernel")
    return found


def _nodes(graph: int) -> list[ctypes.c_void_p]:
    count = ctypes.c_size_t()
    _do(_driver().cuGraphGetNodes(graph, None, ctypes.byref(count)))
    nodes = (ctypes.c_void_p * count.value)()
    _do(_driver().cuGraphGetNodes(graph, nodes, ctypes.byref(count)))
    return [ctypes.c_void_p(node) for node in nodes]


def _check_memset(handle: ctypes.c_void_p, tensors: Ranges) -> None:
    memset = _Memset()
    _do(_driver().cuGraphMemsetNodeGetParams(handle, ctypes.byref(memset)))
    if tensors.find(memset.address) is not None:
        raise _Unmovable("it fills a tensor")


def _node(handle: ctypes.c_void_p) -> _Node:
    """Copies a kernel's parameters. An address can be part of one that is larger than an address; it would be missed."""
    kernel = _Kernel()
    _do(_driver().cuGraphKernelNodeGetParams_v2(handle, ctypes.byref(kernel)))
    if not kernel.function or kernel.extra:
        raise _Unmovable("a kernel's parameters have another form")
    values: list[Any] = []
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    while _driver().cuFuncGetParamInfo(kernel.function, len(values), ctypes.byref(offset), ctypes.byref(size)) == 0:
        if size.value > _ADDRESS_BYTES:
            raise _Unmovable("a kernel takes a structure")
        held = ctypes.string_at(kernel.parameters[len(values)], size.value)
        if size.value == _ADDRESS_BYTES:
            values.append(ctypes.c_uint64(int.from_bytes(held, "little")))
        else:
            values.append(ctypes.create_string_buffer(held, size.value))
    parameters = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
    kernel.parameters = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))
    return _Node(handle, kernel, values, parameters)
