"""The server: one task, and one request per line (docs/torch-protocol.md)."""

from __future__ import annotations

import importlib.metadata
import os
import socket
from typing import Any

import torch

from pragma_torch import batteries, islands
from pragma_torch.areas import Areas
from pragma_torch.channel import Channel
from pragma_torch.conditioning import Rounding
from pragma_torch.conversation import Operation, converse
from pragma_torch.describe import Described, Loaded, describe_loaded, exported, load
from pragma_torch.errors import ServerError
from pragma_torch.process import keep_freed_memory
from pragma_torch.referee import Referee
from pragma_torch.structure import Structure
from pragma_torch.zygote import Zygote


class Server:
    """Serves one client until it quits or closes the socket."""

    def __init__(self, channel: Channel, zygote: Zygote, threads: int, device: str) -> None:
        self._channel = channel
        self._zygote = zygote
        self._threads = threads
        self._device = device  # device of what is judged there, and of timing children with an area
        self._loaded: Loaded | None = None  # a task that is not described yet
        self._described: Described | None = None
        self._judge: Referee | None = None
        self._structures: list[Structure] | None = None  # structures of the task's drawn arguments
        self._exported: tuple[Any, list[torch.Tensor]] | None = None  # the task's graph, for islands
        self._areas = Areas()
        self._operations: dict[str, Operation] = {
            "load": self._load,
            "describe": self._describe,
            "draw": self._draw,
            "reference": self._reference,
            "apply_battery": self._apply_battery,
            "spawn_timer": self._spawn_timer,
            "open_sets": self._open_sets,
            "draw_set": lambda m, _: {"outputs": self._referee().draw(m["seed"], m["draw"], m["slot"])},
            "restore_set": lambda m, _: {"outputs": self._referee().restore(m["draw"], m["slot"])},
            "battery_set": lambda m, _: self._referee().battery(m),
            "renew_sets": lambda m, _: self._referee().renew(m["slots"], m["seed"]),
            "compare_conditioned": lambda m, _: self._referee().compare_conditioned(
                m["area"], m["slot"], Rounding.read(m)
            ),
            "judge_nearby": lambda m, _: {"copies": self._referee().judge_nearby(m["slot"], Rounding.read(m))},
            "share_area": self._share_area,
            "drop_area": lambda m, _: self._referee().drop(m["area"]),
            "put_sets": lambda m, _: self._referee().put(
                m["area"], m["slots"], m["seed"], m.get("fill", True)
            ),
            "compare_sets": lambda m, _: {"slots": self._referee().compare(m["area"], m["slots"])},
            "operator_seconds": self._operator_seconds,
            "cut_islands": self._cut_islands,
            "arrange_islands": lambda m, _: islands.arrange(self._program()[0], self._task().plan, m["islands"]),
            "keep_outputs": lambda m, _: self._referee().keep(m["area"], m["slot"]),
        }

    def serve(self) -> None:
        torch.set_num_threads(self._threads)
        keep_freed_memory()  # a reference is computed for every timed set
        self._channel.send({"hello": 1, "torch": torch.__version__, "triton": _version("triton")})
        converse(self._channel, self._operations)

    def _task(self) -> Described:
        if self._described is None:
            raise ServerError("no task is described yet")
        return self._described

    def _load(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Loads a task, so that the client can wait for the memory of a GPU that describing it takes."""
        self._loaded = None  # of an earlier request, which must not be described instead if this one fails
        self._loaded = load(message["task"], message.get("memory_limit", 0), message.get("eval", False))
        need = self._loaded.need
        return {"device_bytes": need.on_device if need else 0}

    def _describe(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        self._judge = None
        self._structures = None
        self._exported = None
        if self._loaded is None:
            self._load(message, fds)
        loaded, self._loaded = self._loaded, None
        assert loaded is not None
        self._described = describe_loaded(loaded, self._device, message.get("updates", True))
        # This comes last, because imports that the zygote still has to do would disturb the next timing.
        self._zygote.ask({"op": "ready"})
        return {
            "task": self._described.description,
            "candidate_plan": self._described.candidate_plan(),
            "files": self._described.files,
        }

    def _draw(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        reference = self._task().reference
        reference.draw(message["seed"], self._areas.of(_one(fds, 0), private=False), message["offsets"])
        return {}

    def _reference(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        reference = self._task().reference
        arguments = self._areas.of(_one(fds, 0), private=True)
        outputs = self._areas.of(_one(fds, 1), private=False)
        note = reference.expect(
            message["precision"], arguments, message["offsets"], outputs, message["output_offsets"]
        )
        return {"note": note}

    def _apply_battery(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Rewrites the drawn set at these offsets. The structure that kernels may rely on is determined from the first
        one."""
        reference = self._task().reference
        area = self._areas.of(_one(fds, 0), private=False)
        tensors = [
            area.tensor(offset, a.torch_dtype, a.shape)
            for a, offset in zip(reference.plan.arguments, message["offsets"], strict=True)
        ]
        if self._structures is None:
            self._structures = batteries.structures_of(tensors)
        batteries.apply(message, reference.plan.arguments, self._structures, tensors)
        return {}

    def _spawn_timer(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """The descriptors are the ring's inputs (or, without offsets, a socket with an area of the referee), the
        control page, and a socket for the child's hello."""
        described = self._task()
        for offsets in message["offsets"]:
            if len(offsets) != len(described.plan.arguments):
                raise ServerError("every set needs one offset per argument")
        request = {
            "op": "spawn",
            "task": described.task.path,
            "eval": described.task.evaluates,
            "plan": described.plan.to_json(),
            "mode": message["mode"],
            "compile_mode": message.get("compile_mode", "default"),
            "allocator": message["allocator"],
            "as_call": message.get("as_call", False),
            "offsets": message["offsets"],
            "threads": self._threads,
            "device": "cpu" if message["offsets"] else self._device,
        }
        self._zygote.ask(request, fds)
        return {}

    def _program(self) -> tuple[Any, list[torch.Tensor]]:
        if self._exported is None:
            self._exported = exported(self._task())
        return self._exported

    def _operator_seconds(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        return {"seconds": islands.operator_seconds(*self._program())}

    def _cut_islands(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        program, leaves = self._program()
        return islands.cut(program, leaves, self._task().description["name"], message["islands"])

    def _referee(self) -> Referee:
        if self._judge is None:
            plan = self._task().candidate_plan()
            solution = {key: plan[key] for key in ("init", "init_keywords", "mode")}
            self._judge = Referee(self._task().reference, self._device, solution)
        return self._judge

    def _open_sets(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        with torch.no_grad():
            self._referee().open(message["sets"], message["draws"])
        return {}

    def _share_area(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        with socket.socket(fileno=os.dup(_one(fds, 0))) as end:
            return self._referee().share(
                message["area"], message["outputs"], message.get("shifts", False), end
            )


def _version(package: str) -> str:
    """Returns an empty string if the package is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _one(fds: list[int], index: int) -> int:
    if index >= len(fds):
        raise ServerError("a descriptor is missing")
    return fds[index]
