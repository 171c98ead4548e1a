"""A folder that `pragma model` has written: its files are checked against the manifest before anything is loaded."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import io
import json
import pathlib
import platform
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import torch

from pragma_kernels.errors import PackageError
from pragma_kernels.library import Kernel, load_kernel

_SCHEMA = 1


@dataclasses.dataclass
class Unit:
    """A kind of submodule for which the package has kernels."""

    name: str
    kind: str  # the name of the module's class
    paths: list[str]
    attributes: dict[str, str]  # of the module at a path, a hash; not known: ""
    kernels: list[Kernel]
    inputs: list[dict[str, Any]]  # each has `name`, `dtype`, `shape`
    weights: list[dict[str, Any]]  # these have `state` as well: the place in the module
    objects: dict[str, dict[str, Any] | None]  # by path, where tensors are in objects (pragma_kernels.objects)
    positional: int  # so many tensors by position are a whole call, or -1
    take: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...] | None]
    call: Callable[..., Any]  # takes the call's tensors and the weights
    traced: Callable[..., Any]  # the same with operators that torch.compile knows
    never: str  # the reason why the original always runs on this machine, or ""
    device: str  # the type of device on which its tensors must be


class Package:
    """The manifest and all that was loaded because of it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._files = _Files(folder)
        self.manifest = self._files.manifest
        self.never = _unfit(self.manifest)
        self.device: dict[str, Any] = self.manifest["device"]
        self._kernels: dict[str, Kernel] = {}
        for entry in self.manifest["kernels"]:
            missing = _missing(entry["needs"])
            if not self.never and not missing:
                self._kernels[entry["name"]] = load_kernel(folder, entry, self.device, self._files.identity(entry))
        self._constants = self._loaded_constants()
        self.units = {entry["name"]: self._unit(entry) for entry in self.manifest["units"]}

    def _loaded_constants(self) -> dict[str, dict[str, torch.Tensor]]:
        if "constants.pt" not in self._files.names:
            return {}
        loaded = torch.load(io.BytesIO(self._files.read("constants.pt")), weights_only=True)
        assert isinstance(loaded, dict)
        return loaded

    def _unit(self, entry: dict[str, Any]) -> Unit:
        kernels = [self._kernels[name] for name in entry["kernels"] if name in self._kernels]
        never = self.never or ("processor" if len(kernels) < len(entry["kernels"]) else "")
        # A unit that never runs needs neither its text nor the types that its text names.
        text: dict[str, Any] = {"POSITIONAL": -1, "take": _nothing} if never else self._text(entry)
        made: list[Any] = [_nothing, _nothing]
        if not never:
            constants = self._constants.get(entry["name"], {})
            made = [text["make"]({k.name: getattr(k, how) for k in kernels}, constants) for how in ("fast", "operator")]
        return Unit(
            name=entry["name"],
            kind=entry["class"],
            paths=entry["paths"],
            attributes=entry["attributes"],
            kernels=kernels,
            inputs=entry["inputs"],
            weights=entry["weights"],
            objects=entry["objects"],
            positional=text["POSITIONAL"],
            take=text["take"],
            call=made[0],
            traced=made[1],
            never=never,
            device=self.device["type"],
        )

    def _text(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Runs a unit's file as a module. torch.compile looks for the module by its name, which therefore tells packages
        apart."""
        path = self.folder / entry["file"]
        module = types.ModuleType(f"pragma_kernels_unit_{entry['name']}_{self._files.digest}")
        module.__file__ = str(path)
        try:
            exec(compile(self._files.read(entry["file"]), str(path), "exec"), module.__dict__)
        except Exception as error:  # a container of the call that this process does not know, for example
            raise PackageError(f"{path} cannot be loaded: {error}") from error
        sys.modules[module.__name__] = module
        return module.__dict__


class _Files:
    """The files of a package. What is read was checked when the package was opened."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        try:
            text = (folder / "manifest.json").read_text()
        except OSError as error:
            raise PackageError(f"{folder} is not a folder of kernels: manifest.json cannot be read ({error.strerror})") from error
        try:
            self.manifest: dict[str, Any] = json.loads(text)
            schema, self.names = self.manifest["schema"], dict(self.manifest["files"])
        except (ValueError, KeyError, TypeError) as error:
            raise PackageError(f"{folder}/manifest.json is damaged: pack the model again") from error
        if schema != _SCHEMA:
            raise PackageError(f"{folder}/manifest.json has schema {schema}; this pragma_kernels reads schema {_SCHEMA}")
        self.digest = hashlib.sha256(f"{folder}\0{text}".encode()).hexdigest()[:16]
        self._contents = {name: self._checked(name) for name in self.names}

    def _checked(self, name: str) -> bytes:
        path = self._folder / name
        if pathlib.PurePath(name).is_absolute() or ".." in pathlib.PurePath(name).parts:
            raise PackageError(f"{self._folder}/manifest.json names {name}, which is outside of the folder")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PackageError(f"{path} cannot be read ({error.strerror}): pack the model again") from error
        if hashlib.sha256(content).hexdigest() != self.names[name]:
            raise PackageError(f"{path} is not the file that was packed: its SHA-256 differs from the manifest's")
        return b"" if name.endswith(".so") else content  # the loader reads libraries itself

    def read(self, name: str) -> bytes:
        """Returns a file's content as it was when it was checked."""
        if name not in self._contents:
            raise PackageError(f"{self._folder}/manifest.json has no hash for {name}: pack the model again")
        return self._contents[name]

    def identity(self, kernel: dict[str, Any]) -> str:
        """Returns a hash that two builds of the same kernel share."""
        parts = [self.read(kernel[key]) for key in ("library", "source", "operator") if key in kernel]
        built = json.dumps([kernel.get("compiler"), kernel.get("flags"), self.manifest["device"]]).encode()
        return hashlib.sha256(b"\0".join([*parts, built])).hexdigest()


def _nothing(*_: Any) -> None:
    return None


def _unfit(manifest: dict[str, Any]) -> str:
    """Returns the reason why no kernel can be loaded into this process, or ""."""
    parts = torch.__version__.split("+")[0].split(".")
    release = tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts[:2])
    if release < tuple(manifest["oldest_torch"]):
        return "torch version"
    if platform.machine() != manifest["machine"]:
        return "processor"
    triton = any(kernel["language"] == "triton" for kernel in manifest["kernels"])
    return "triton version" if triton and importlib.util.find_spec("triton") is None else ""


def _missing(needs: list[str]) -> list[str]:
    """Returns the features among `needs` that this processor lacks."""
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            words = set(cpuinfo.read().split())
    except OSError:
        words = set()
    return [need for need in needs if need not in words]


_opened: dict[tuple[str, str], Package] = {}
_lock = threading.Lock()


def open_package(folder: str | pathlib.Path) -> Package:
    """Returns the folder's package. It is loaded once as long as its manifest stays the same."""
    path = pathlib.Path(folder).resolve()
    try:
        key = (str(path), (path / "manifest.json").read_text())
    except OSError as error:
        why = error.strerror
        raise PackageError(f"{path} is not a folder of kernels: manifest.json cannot be read ({why})") from error
    with _lock:
        if key not in _opened:
            _opened[key] = Package(path)
        return _opened[key]
