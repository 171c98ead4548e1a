"""Exchange: the memory in which one side of a comparison computes: copies of the input sets, and poisoned outputs.

It has two arenas: arguments, which a candidate maps read-only, and outputs, each between margins of random bytes. The
fp64 reference is in neither. The server makes an exchange (referee.py), and a measured process opens it.
"""

from __future__ import annotations

import os
import socket
from typing import Any

import torch

from pragma_torch.arena import ALIGNMENT, Arena, make_arena
from pragma_torch.channel import Channel, close_all
from pragma_torch.plan import DTYPES, Plan

# One set does not start at a multiple of ALIGNMENT, like a view of a larger tensor, if the contract promises no more
# than Triton's own 16 bytes.
SHIFTED_SET, SHIFT = 3, 48

MARGIN = 4096  # bytes on either side of an output; a multiple of ALIGNMENT


def _aligned(size: int) -> int:
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


class Places:
    """The locations of all tensors: offsets by set, then by tensor."""

    def __init__(self, plan: Plan, outputs: list[dict[str, Any]], sets: int, shifts: bool) -> None:
        self.arguments: list[list[int]] = []
        self.outputs: list[list[int]] = []
        self.input_bytes = self.output_bytes = 0
        sizes = [torch.Size(o["shape"]).numel() * DTYPES[o["dtype"]].itemsize for o in outputs]
        for number in range(sets):
            shift = SHIFT if shifts and number == SHIFTED_SET else 0
            row = []
            for argument in plan.arguments:
                row.append(self.input_bytes + shift)
                self.input_bytes += _aligned(max(argument.bytes, 1) + shift)
            self.arguments.append(row)
            row = []
            for size in sizes:
                self.output_bytes += MARGIN
                row.append(self.output_bytes + shift)
                self.output_bytes += _aligned(size + shift) + MARGIN
            self.outputs.append(row)


class Exchange:
    """The server's end."""

    def __init__(
        self,
        device: str,
        plan: Plan,
        outputs: list[dict[str, Any]],
        sets: int,
        with_outputs: bool,
        shifts: bool = False,
        solution: dict[str, Any] | None = None,
    ) -> None:
        """`shifts` means that one set begins at a multiple of only 16 bytes. `solution` is what a ModelNew needs besides
        the plan: its init arguments and its mode."""
        places = Places(plan, outputs, sets, shifts)
        self._request = {
            "plan": plan.to_json(),
            "outputs": outputs,
            "device": device,
            "arguments_at": places.arguments,
            "outputs_at": places.outputs if with_outputs else [],
            "solution": solution or {},
        }
        self._inputs = make_arena(device, places.input_bytes)
        self._outputs = make_arena(device, places.output_bytes) if with_outputs else None
        self.layout = {
            "input_bytes": self._inputs.size,
            "output_bytes": self._outputs.size if self._outputs else 0,
            "arguments_at": places.arguments,
            "outputs_at": self._request["outputs_at"],
        }
        self.arguments = [
            [self._inputs.tensor(at, a.torch_dtype, a.shape) for at, a in zip(row, plan.arguments, strict=True)]
            for row in places.arguments
        ]
        self.outputs: list[list[torch.Tensor]] = []
        self._margins: list[list[tuple[torch.Tensor, torch.Tensor]]] = []
        if self._outputs is not None:
            self._find_outputs(self._outputs, places, outputs)

    def _find_outputs(self, arena: Arena, places: Places, specs: list[dict[str, Any]]) -> None:
        device = arena.bytes.device
        for row in places.outputs:
            outputs, margins = [], []
            for at, spec in zip(row, specs, strict=True):
                tensor = arena.tensor(at, DTYPES[spec["dtype"]], spec["shape"])
                end = at + tensor.numel() * tensor.element_size()
                behind = _aligned(end) + MARGIN
                outputs.append(tensor)
                margins.append(
                    (
                        arena.bytes[at - MARGIN : at],
                        arena.bytes[end:behind],
                    )
                )
            self.outputs.append(outputs)
            self._margins.append(margins)
        # The contents of the margins must stay secret, because a stray write often is a zero.
        self._masks = [
            [tuple(_random_bytes(part.numel(), device) for part in pair) for pair in margins]
            for margins in self._margins
        ]

    def send(self, end: socket.socket) -> None:
        """Sends the exchange to the holder of the other end. No one has read it yet, and it need not be read."""
        fds = [self._inputs.fd] + ([self._outputs.fd] if self._outputs else [])
        sizes = [self._inputs.size] + ([self._outputs.size] if self._outputs else [])
        Channel(end).send(self._request | {"sizes": sizes}, fds)

    def mark(self, slot: int) -> None:
        """Fills the margins again."""
        for pair, masks in zip(self._margins[slot], self._masks[slot], strict=True):
            for part, mask in zip(pair, masks, strict=True):
                part.copy_(mask)

    def outside(self, slot: int) -> list[torch.Tensor]:
        """Returns for each output, as a tensor of one bool, whether anything around it was written."""
        return [
            torch.stack([(part != mask).any() for part, mask in zip(pair, masks, strict=True)]).any()
            for pair, masks in zip(self._margins[slot], self._masks[slot], strict=True)
        ]

    def close(self) -> None:
        for arena in (self._inputs, self._outputs):
            if arena is not None:
                os.close(arena.fd)
        self.arguments, self.outputs, self._margins = [], [], []


def _random_bytes(count: int, device: torch.device) -> torch.Tensor:
    return torch.frombuffer(bytearray(os.urandom(count)), dtype=torch.uint8).to(device)


class Opened:
    """A measured process's end: the plan, the output specs, and the tensors of each set."""

    def __init__(self, area_fd: int, arguments_writable: bool) -> None:
        """Takes over the descriptor of a socket. The device must have been started (device.py)."""
        with socket.socket(fileno=area_fd) as end:
            received = Channel(end).receive()
        if received is None:
            raise OSError("no area was handed over")
        request, fds = received
        self.plan = Plan.from_json(request["plan"])
        self.specs: list[dict[str, Any]] = request["outputs"]
        self.solution: dict[str, Any] = request["solution"]
        device, sizes = request["device"], request["sizes"]
        arenas = [
            Arena(device, fd, size, arguments_writable or i > 0)
            for i, (fd, size) in enumerate(zip(fds, sizes, strict=True))
        ]
        close_all(fds)
        self.arguments = [
            [arenas[0].tensor(at, a.torch_dtype, a.shape) for at, a in zip(row, self.plan.arguments, strict=True)]
            for row in request["arguments_at"]
        ]
        self.outputs = [
            [
                arenas[1].tensor(at, DTYPES[spec["dtype"]], spec["shape"])
                for at, spec in zip(row, self.specs, strict=True)
            ]
            for row in request["outputs_at"]
        ]
        self._arenas = arenas
