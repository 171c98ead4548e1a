"""Launches: what a Triton module launches, as one CUDA graph from the second call on.

A launch in Triton takes tens of microseconds of the host, which is more than many kernels take. So the launches of a call
are captured, and replayed from then on. Nothing is copied, and what lies at the addresses is read afresh. A model has one
graph for each layer that calls the module. Where Torch's allocator gives other addresses, the graph is moved there. A graph
that cannot be moved serves the calls on the same addresses, and is captured when these come for the second time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch

from pragma_kernels.graph import Graph, can_move, new_capture

_Key = tuple[int, ...]  # a stream, and addresses
_MOST = 256  # graphs of a module; a model calls it once for each layer
_MOST_SEEN = 4096  # addresses that are remembered

_lock = threading.RLock()  # of all graphs: one is captured, moved or given back at a time


class _Pool:
    """Memory for what the graphs of one stream need meanwhile. They run one after the other, so they share it. Torch gives
    a pool up with its last graph, and captures nothing in it any more."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._graphs: weakref.WeakSet[torch.cuda.CUDAGraph] = weakref.WeakSet()

    def handle_for(self, graph: torch.cuda.CUDAGraph) -> Any:
        """Returns the handle with which the graph can be captured."""
        if not self._graphs:
            self._handle = torch.cuda.graph_pool_handle()
        self._graphs.add(graph)
        return self._handle


_pools: dict[tuple[int, int], _Pool] = {}  # by device and stream
_sides: dict[int, torch.cuda.Stream] = {}  # where graphs are captured, by device


class Launches:
    """The calls of one module's `run` on one GPU."""

    def __init__(self, run: Callable[..., None]) -> None:
        self._run = run
        self._graphs: dict[_Key, Graph] = {}
        self._seen: set[_Key] = set()
        self._moves = can_move()
        self._fails = False  # a capture failed
        self.replays = 0
        self.slow = ""  # why calls are not replayed, or only those on the same memory

    def __call__(self, *tensors: torch.Tensor) -> None:
        # A graph that is being captured takes the launches themselves.
        if torch.cuda.is_current_stream_capturing():
            self._run(*tensors)
            return
        stream = torch.cuda.current_stream()
        addresses = tuple([tensor.data_ptr() for tensor in tensors])
        key = self._key(stream, tensors, addresses)
        graph = self._graphs.get(key)
        if graph is not None:
            self._replay(graph, tensors, addresses)
        elif key not in self._seen or self._fails:
            self._note(key)
            self._run(*tensors)
        else:
            self._capture(stream, tensors, addresses)

    def forget(self) -> None:
        """Gives back what the graphs hold."""
        with _lock:
            self._graphs.clear()
            self._seen.clear()

    def _key(self, stream: torch.cuda.Stream, tensors: tuple[torch.Tensor, ...], addresses: tuple[int, ...]) -> _Key:
        """Calls with the same key share a graph. A graph that can be moved belongs to the parameters of a layer."""
        if not self._moves:
            return (stream.cuda_stream, *addresses)
        held = [address for tensor, address in zip(tensors, addresses, strict=True) if type(tensor) is torch.nn.Parameter]
        return (stream.cuda_stream, *held)

    def _note(self, key: _Key) -> None:
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen.add(key)

    def _replay(self, graph: Graph, tensors: tuple[torch.Tensor, ...], addresses: tuple[int, ...]) -> None:
        try:
            with _lock:  # another thread must not move the graph in between
                graph.replay(addresses)
            self.replays += 1
        except RuntimeError as error:
            self._fail(error)
            self.forget()
            self._run(*tensors)

    def _capture(self, stream: torch.cuda.Stream, tensors: tuple[torch.Tensor, ...], addresses: tuple[int, ...]) -> None:
        with _lock:
            try:
                graph = Graph(self._captured(stream, tensors), tensors)
            except Exception as error:
                self._fail(error)
                self._run(*tensors)
                return
            if graph.fixed:
                self.slow = f"the graph of a call cannot be moved: {graph.fixed}"
            if self._moves and graph.fixed:
                self._moves = False
                self.forget()
            while len(self._graphs) >= _MOST:
                self._graphs.pop(next(iter(self._graphs)))
            self._graphs[self._key(stream, tensors, addresses)] = graph
            graph.replay(addresses)

    def _fail(self, error: Exception) -> None:
        """The launches run as they are from then on."""
        self._fails = True
        self.slow = f"no graph of a call: {type(error).__name__}: {error}".partition("\n")[0]

    def _captured(self, stream: torch.cuda.Stream, tensors: tuple[torch.Tensor, ...]) -> torch.cuda.CUDAGraph:
        """Torch's random generator keeps tensors for all graphs, in the inference mode of the first. A capture outside of
        that mode then fails, and leaves the generator unusable until the next capture. So the capture is made outside of
        inference mode, which suits later ones in any mode, and again inside where earlier ones were made there."""
        try:
            with torch.inference_mode(False):
                return self._captured_here(stream, tensors)
        except Exception:
            with torch.inference_mode():
                return self._captured_here(stream, tensors)

    def _captured_here(self, stream: torch.cuda.Stream, tensors: tuple[torch.Tensor, ...]) -> torch.cuda.CUDAGraph:
        """torch.cuda.graph would give the allocator's free memory back, after which no address comes again."""
        device = stream.device_index
        side = _sides.setdefault(device, torch.cuda.Stream(device))
        pool = _pools.setdefault((device, stream.cuda_stream), _Pool())
        graph = new_capture()
        side.wait_stream(stream)
        with torch.cuda.stream(side):
            graph.capture_begin(pool=pool.handle_for(graph), capture_error_mode="thread_local")
            try:
                self._run(*tensors)
            finally:
                graph.capture_end()
        return graph
