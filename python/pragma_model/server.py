"""The server behind `pragma model`: one model file, and one request per line (docs/torch-protocol.md)."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import torch
from pragma_kernels.attributes import fingerprint

from pragma_model.choice import MOST_OPERATORS, MOST_OPERATORS_ON_GPU, Choice
from pragma_model.keep import keep
from pragma_model.modelfile import Call, ModelFile
from pragma_model.pack import pack
from pragma_model.place import Place, moved
from pragma_model.prove import Proof
from pragma_model.survey import Visit, survey
from pragma_model.unit import NotAUnit
from pragma_torch.channel import Channel
from pragma_torch.conversation import Operation, converse
from pragma_torch.errors import ServerError, TaskError, task_error
from pragma_torch.process import keep_freed_memory


class Server:
    """Serves one client until it quits or closes the socket."""

    def __init__(self, channel: Channel, threads: int, device: str) -> None:
        self._channel = channel
        self._place = Place(device)
        self._threads = threads
        self._operations: dict[str, Operation] = {
            "capture": lambda message, _: self._capture(message),
            "pack": lambda message, _: self._pack(message),
            "keep": lambda message, _: self._keep(message),
            "prove": lambda message, _: self._prove(message),
            "first": lambda message, _: self._proved().first(message),
            "check": lambda message, _: self._proved().check(message),
            "compile": lambda message, _: self._proved().compile(message),
            "time": lambda message, _: self._proved().time(message),
        }
        self._proof: Proof | None = None
        self._constants: dict[str, dict[str, torch.Tensor]] = {}  # of a unit, by its key
        self._objects: dict[str, dict[str, Any]] = {}  # what each unit reads and changes in objects, by its key
        self._attributes: dict[str, str] = {}  # of the module at a path, as pragma_kernels.attributes hashes them

    def serve(self) -> None:
        torch.set_num_threads(self._threads)
        keep_freed_memory()
        self._channel.send({"hello": 1, "torch": torch.__version__, "triton": ""})
        converse(self._channel, self._operations)

    def _say(self, phase: str) -> None:
        """Tells the client what is being done."""
        self._channel.send({"phase": phase})

    def _capture(self, message: dict[str, Any]) -> dict[str, Any]:
        """Finds the parts of the file's model that become tasks."""
        self._say("building the model")
        file = ModelFile(message["file"])
        # Parts are captured on the CPU, whatever the device: their tasks are described there too.
        model = file.make_model().to("cpu")
        calls = [moved(call, "cpu") for call in file.make_calls()]
        self._say("timing its modules")
        visits = _run(file, lambda: self._survey(model, calls))
        self._say("capturing its modules")
        most = MOST_OPERATORS_ON_GPU if self._place.on_gpu else MOST_OPERATORS
        choice = Choice(model, calls, visits, message["file"], most)
        _run(file, choice.run)
        taken = [path for part in choice.parts for path in part.paths]
        self._attributes = {path: fingerprint(model.get_submodule(path)) for path in taken}
        return {
            "name": file.name.removesuffix(".py"),
            "kind": type(model).__name__,
            "parameters": sum(p.numel() for p in model.parameters()),
            "calls": len(calls),
            "operators": sum(visit[""].operators for visit in visits),
            "seconds": sum(visit[""].seconds for visit in visits),
            "parts": self._parts(choice, file.name),
            "left": [
                {"path": left.paths[0], "uses": len(left.paths)} | {"kind": left.kind, "seconds": left.seconds, "why": left.why}
                for left in choice.left
            ],
        }

    def _survey(self, model: torch.nn.Module, calls: list[Call]) -> list[dict[str, Visit]]:
        there = self._place.model_copy(model)
        visits = [survey(there, self._place.call(call), self._place.now) for call in calls]
        del there
        self._place.give_memory_back()
        return visits

    def _parts(self, choice: Choice, name: str) -> list[dict[str, Any]]:
        found = []
        for part in choice.parts:
            unit = part.unit
            try:
                task = unit.task(f"{unit.kind} of {name}")
            except NotAUnit as error:
                found.append(_part(part, {"refusal": str(error)}))
                continue
            key = _key(unit.path, task["leaves"])
            self._constants[key] = unit.constants()
            if unit.places() is not None:
                self._objects[key] = {"stored": unit.stored(), "places": part.places}
            found.append(_part(part, {"refusal": ""} | task))
        return found

    def _prove(self, message: dict[str, Any]) -> dict[str, Any]:
        """Opens a model and a folder of kernels for the operations that compare and time them."""
        self._proof = Proof(message["file"], _package(message), self._place, self._say)
        return {}

    def _proved(self) -> Proof:
        if self._proof is None:
            raise ServerError("no model is opened to be proved")
        return self._proof

    def _pack(self, message: dict[str, Any]) -> dict[str, Any]:
        request = message["request"]
        for unit in request["units"]:
            key = _key(unit["paths"][0], unit["leaves"])
            unit["constants"] = self._constants.get(key, {})
            unit |= self._objects.get(key, {})
            unit["attributes"] = {path: self._attributes[path] for path in unit["paths"]}
        return pack(request, _package(message))

    def _keep(self, message: dict[str, Any]) -> dict[str, Any]:
        """Takes the other units out of the package."""
        keep(_package(message), message["units"])
        return {}


def _key(path: str, leaves: list[dict[str, Any]]) -> str:
    """Returns what tells units apart: the first module, and the form of the arguments in the example call."""
    return f"{path} {[(leaf.get('dtype'), leaf.get('shape'), leaf.get('object')) for leaf in leaves]}"


def _package(message: dict[str, Any]) -> pathlib.Path:
    """The folder of the package, in the one that pragma gave."""
    return pathlib.Path(message["folder"]) / "package"


def _part(part: Any, more: dict[str, Any]) -> dict[str, Any]:
    unit = part.unit
    said = {"kind": unit.kind, "paths": part.paths, "seconds": part.seconds, "operators": unit.operators}
    said["compiled"] = part.compiled
    return said | more


def _run(file: ModelFile, what: Callable[[], Any]) -> Any:
    """Runs what calls the user's model; what that raises is the file's fault."""
    try:
        return what()
    except (ServerError, TaskError):
        raise
    except BaseException as error:
        raise task_error(file.name, "the model's forward", error, file.path) from error
