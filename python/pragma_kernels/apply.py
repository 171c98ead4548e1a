"""Installs a package in a model, and removes it."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator

import torch

from pragma_kernels.applied import Applied
from pragma_kernels.attributes import fingerprint
from pragma_kernels.errors import PackageError
from pragma_kernels.installed import install, installed
from pragma_kernels.package import Package, Unit, open_package


def apply(
    model: torch.nn.Module,
    folder: str | pathlib.Path,
    only: Iterable[str] | None = None,
    paths: Iterable[str] | None = None,
) -> Applied:
    """Installs the folder's kernels in the model. `only` names units, and `paths` modules, where not all are wanted.

    Returns the paths that were installed; its `refused` says of each other path why it was not. Nothing is loaded before
    all files have the hashes of the manifest.
    """
    if any(installed(module) is not None for module in model.modules()):
        raise PackageError("this model already has kernels: call pragma_kernels.remove(model) first")
    package = open_package(folder)
    done = Applied(package.folder)
    fitting: dict[int, tuple[str, list[Unit], torch.nn.Module]] = {}
    for path, unit in _wanted(package, only, paths):
        reason = _misfit(model, path, unit)
        if reason:
            done.refused[path] = reason
            continue
        module = model.get_submodule(path)
        if id(module) in fitting and fitting[id(module)][0] == path:  # for a call of another form
            fitting[id(module)][1].append(unit)
            continue
        if id(module) in fitting:
            done.refused[path] = f"it is the same module as {fitting[id(module)][0] or 'the model itself'}, which is installed"
            continue
        fitting[id(module)] = (path, [unit], module)
    if not fitting:
        raise PackageError(f"{package.folder} has nothing for this model: {_first(done.refused)}")
    for path, units, module in fitting.values():
        install(str(package.folder), units, path, module, done.refused)
        done.append(path)
    return done


def remove(model: torch.nn.Module) -> list[str]:
    """Gives every module its original forward back. Returns the paths at which there was a kernel."""
    removed = []
    for path, module in model.named_modules():
        held = installed(module)
        if held is not None:
            del module.__dict__["forward"]
            held.release()
            removed.append(path)
    return removed


def _wanted(package: Package, only: Iterable[str] | None, paths: Iterable[str] | None) -> Iterator[tuple[str, Unit]]:
    units = _chosen("unit", only, list(package.units), package)
    every = [path for unit in package.units.values() for path in unit.paths]
    chosen = _chosen("module", paths, every, package)
    for name in units:
        unit = package.units[name]
        yield from ((path, unit) for path in unit.paths if path in chosen)


def _chosen(what: str, names: Iterable[str] | None, known: list[str], package: Package) -> list[str]:
    if names is None:
        return known
    wanted = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise PackageError(f"{package.folder} has no kernels for the {what} {unknown[0]!r}; it has {', '.join(known)}")
    return [name for name in known if name in wanted]


def _misfit(model: torch.nn.Module, path: str, unit: Unit) -> str:
    """Returns why the unit cannot be installed at the path, or ""."""
    try:
        module = model.get_submodule(path)
    except AttributeError:
        return "the model has no such module"
    kind = type(module)
    if unit.kind not in (kind.__name__, kind.__qualname__, f"{kind.__module__}.{kind.__qualname__}"):
        return f"it is a {kind.__name__}, not a {unit.kind}"
    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()):
        return "it is, or has, a module of TorchScript"
    if "forward" in module.__dict__:
        return "its forward was replaced"
    reason = next((reason for weight in unit.weights if (reason := _weight_misfit(module, weight))), "")
    if not reason and unit.attributes.get(path, "") not in ("", fingerprint(module)):
        return "its attributes are not those of the module that was packed"
    return reason


def _weight_misfit(module: torch.nn.Module, weight: dict[str, object]) -> str:
    owner_path, _, name = str(weight["state"]).rpartition(".")
    try:
        owner = module.get_submodule(owner_path)
    except AttributeError:
        return f"it has no {weight['state']}"
    tensor = owner._parameters.get(name, owner._buffers.get(name))
    if tensor is None:
        return f"it has no parameter or buffer {weight['state']}"
    shape = list(tensor.shape)
    return "" if shape == weight["shape"] else f"{weight['state']} is {shape}, not {weight['shape']}"


def _first(refused: dict[str, str]) -> str:
    return next((f"{path or 'the model itself'}: {reason}" for path, reason in refused.items()), "no module was chosen")
