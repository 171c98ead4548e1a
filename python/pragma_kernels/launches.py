"""Launches: what a Triton module launches, as one CUDA graph where it is called on the same memory again.

A launch in Triton takes tens of microseconds of the host, which is more than many kernels take. A model that is called in a
loop gets the same addresses from Torch's allocator each time. So the launches of a call are captured when its addresses come
for the second time, and replayed from then on. Nothing is copied, and what lies at the addresses is read afresh.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

_MOST = 256  # graphs of a module; a model calls it once for each layer
_MOST_SEEN = 4096  # addresses that are remembered

_lock = threading.Lock()
_pools: dict[tuple[int, int], Any] = {}  # memory for what graphs need meanwhile, by device and stream
_sides: dict[int, torch.cuda.Stream] = {}  # where graphs are captured, by device


class Launches:
    """The calls of one module's `run` on one GPU."""

    def __init__(self, run: Callable[..., None]) -> None:
        self._run = run
        self._graphs: dict[tuple[int, ...], torch.cuda.CUDAGraph] = {}
        self._seen: set[tuple[int, ...]] = set()
        self._fails = False  # a capture failed
        self.replays = 0

    def __call__(self, *tensors: torch.Tensor) -> None:
        stream = torch.cuda.current_stream()
        key = (stream.cuda_stream, *[tensor.data_ptr() for tensor in tensors])
        graph = self._graphs.get(key)
        # A graph that is being captured takes the launches themselves.
        if torch.cuda.is_current_stream_capturing():
            self._run(*tensors)
        elif graph is not None:
            self.replays += 1
            graph.replay()
        elif key not in self._seen or self._fails:
            self._note(key)
            self._run(*tensors)
        else:
            self._capture(key, stream, tensors)

    def forget(self) -> None:
        """Gives back what the graphs hold."""
        self._graphs.clear()
        self._seen.clear()

    def _note(self, key: tuple[int, ...]) -> None:
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen.add(key)

    def _capture(self, key: tuple[int, ...], stream: torch.cuda.Stream, tensors: tuple[torch.Tensor, ...]) -> None:
        with _lock:
            try:
                graph = self._captured(stream, tensors)
            except Exception:  # the launches run as they are from then on
                self._fails = True
                self._run(*tensors)
                return
            while len(self._graphs) >= _MOST:
                self._graphs.pop(next(iter(self._graphs)))
            self._graphs[key] = graph
        graph.replay()

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
        place = (device, stream.cuda_stream)
        if place not in _pools:
            _pools[place] = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        side.wait_stream(stream)
        with torch.cuda.stream(side):
            graph.capture_begin(pool=_pools[place], capture_error_mode="thread_local")
            try:
                self._run(*tensors)
            finally:
                graph.capture_end()
        return graph
