"""Objects among a module's arguments that are no tensors, such as a cache: what forward reads and changes in them.

A module with such an argument is run once on a copy of it that notes each attribute that is read or set. A tensor that is
read becomes an input of the task, and one that is stored becomes an output. Everything else that is read must be the same
in every later call (pragma_kernels/objects.py), and everything else that is set is set to the same value.
"""

from __future__ import annotations

import dataclasses
import enum
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from pragma_kernels.objects import name_of, said
from torch.utils._pytree import tree_flatten, tree_unflatten

from pragma_torch.taskfile import TASK_MODULE

Step = tuple[bool, Any]  # an attribute's name (True) or the key of an item (False)
Path = tuple[Step, ...]  # from the pair (args, kwargs)

_PLAIN = (type(None), bool, int, float, str, torch.dtype, torch.device)
_CONTAINERS = (list, tuple, dict)
_MOST_ITEMS = 256  # of a container that forward may read whole


class Unreadable(Exception):
    """Why what happens in an object cannot be followed: one line, about the object."""


def is_object(leaf: Any) -> bool:
    """Returns whether a leaf of a call's arguments is an object whose attributes can be followed."""
    odd = (torch.Tensor, torch.nn.Module, type, types.FunctionType, types.MethodType, types.ModuleType, enum.Enum, *_PLAIN)
    return hasattr(leaf, "__dict__") and not isinstance(leaf, odd)


def twin(value: Any, tensor: Callable[[Any], Any] = lambda t: t, made: dict[int, Any] | None = None) -> Any:
    """Returns a copy of the objects and containers; its tensors are what `tensor` returns for them."""
    made = {} if made is None else made
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, torch.Tensor):
        made[id(value)] = tensor(value)
    elif type(value) is list:
        items: list[Any] = []
        made[id(value)] = items
        items.extend(twin(item, tensor, made) for item in value)
    elif type(value) is dict:
        entries: dict[Any, Any] = {}
        made[id(value)] = entries
        entries.update((key, twin(item, tensor, made)) for key, item in value.items())
    elif type(value) is tuple:
        return tuple(twin(item, tensor, made) for item in value)
    elif is_object(value):
        kind: Any = type(value)
        try:
            made[id(value)] = copied_object = kind.__new__(kind)
        except TypeError:  # it cannot be made without arguments
            return value
        vars(copied_object).update((name, twin(item, tensor, made)) for name, item in vars(value).items())
    else:
        return value
    return made[id(value)]


def twin_arguments(
    args: Any, kwargs: Any, tensor: Callable[[Any], Any] = lambda t: t, made: dict[int, Any] | None = None
) -> tuple[Any, Any]:
    """Returns the arguments with copies of the objects among them. Other leaves stay, apart from `tensor`. `made` gets
    the copies by the id of what they are copies of."""
    leaves, spec = tree_flatten((args, kwargs))
    made = {} if made is None else made
    leaves = [twin(leaf, tensor, made) if isinstance(leaf, torch.Tensor) or is_object(leaf) else leaf for leaf in leaves]
    copied: tuple[Any, Any] = tree_unflatten(leaves, spec)
    return copied


def get(owner: Any, path: Path) -> Any:
    for by_name, key in path:
        owner = getattr(owner, key) if by_name else owner[key]
    return owner


def name_of_path(path: Path) -> str:
    """Returns a name for what is at the path, without the numbers in it."""
    return "_".join(str(key) for _, key in path[1:] if isinstance(key, str)) or "held"


@dataclasses.dataclass
class Change:
    """Something that forward leaves in an object."""

    path: Path
    how: str  # "tensor": a tensor is stored; "into": a tensor's content changes; "value": something else is stored
    value: Any = None


class Observed:
    """What a call of a module reads and changes in the objects that it is given."""

    def __init__(self, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        self._before = (args, kwargs)
        self._clones: dict[int, torch.Tensor] = {}  # by the id of the tensor that was given
        self._twins: dict[int, Any] = {}  # by the id of the original
        self._after = twin_arguments(args, kwargs, self._clone, self._twins)
        watched = [(held, path) for held, path, _ in _walk(self._after) if is_object(held)]
        self._paths = {id(held): path for held, path in watched}
        self._log = _Log()
        for held, _ in watched:
            _watch(held, self._log)
        versions = {original: clone._version for original, clone in self._clones.items()}
        with torch.no_grad():
            self.result = module(*self._after[0], **self._after[1])
        for held, _ in watched:
            object.__setattr__(held, "__class__", type(held).__mro__[1])
        if self._log.other:
            raise Unreadable(self._log.other)
        self._read = self._all_read()
        self.changes = [*self._in_place(versions), *self._stored()]

    def _clone(self, tensor: torch.Tensor) -> torch.Tensor:
        return self._clones.setdefault(id(tensor), tensor.clone())

    # ---- what was read ----------------------------------------------------------------------------------------------

    def _all_read(self) -> list[Path]:
        """Returns the paths that were read, those of a container's items among them."""
        paths = [self._paths[id(held)] + ((True, name),) for held, name in self._log.read.values() if id(held) in self._paths]
        found: dict[Path, None] = {}
        for path in paths:
            found.update(dict.fromkeys(_with_items(get(self._before, path), path)))
        return list(found)

    def tensors(self) -> list[Path]:
        """Returns the paths of the tensors that are read."""
        return [path for path in self._read if isinstance(get(self._before, path), torch.Tensor)]

    # ---- what was changed -------------------------------------------------------------------------------------------

    def _in_place(self, versions: dict[int, int]) -> Iterator[Change]:
        for path in self.tensors():
            original = id(get(self._before, path))
            if self._clones[original]._version != versions[original]:
                yield Change(path, "into")

    def _stored(self) -> Iterator[Change]:
        for held, name in self._log.written.values():
            if id(held) in self._paths:
                yield _stored_as(self._paths[id(held)] + ((True, name),), vars(held).get(name))
        for before, path, inside in _walk(self._before):
            if inside and isinstance(before, _CONTAINERS):
                yield from self._items_stored(before, path)

    def _items_stored(self, before: Any, path: Path) -> Iterator[Change]:
        try:
            after = get(self._after, path)
        except (AttributeError, LookupError):
            after = None
        if type(after) is not type(before) or len(after) != len(before):
            raise Unreadable(f"{_text(path)} gets another length")
        for (_, key), old in _children(before):
            if isinstance(before, dict) and key not in after:
                raise Unreadable(f"{_text(path)} loses an item")
            if not self._same_item(old, after[key]):
                yield _stored_as((*path, (False, key)), after[key])

    def _same_item(self, old: Any, new: Any) -> bool:
        if id(old) in self._twins:  # a tensor, an object, or a container, which is looked at on its own
            return new is self._twins[id(old)]
        return type(new) is type(old) and bool(new == old)

    # ---- as data ----------------------------------------------------------------------------------------------------

    def places(self, used: list[Path]) -> dict[str, Any]:
        """Returns all of it for pragma_kernels.objects. `used` are the tensors that the kernels take."""
        writer = _Writer(self._before)
        entry: dict[str, Any] = {"same": [], "absent": [], "forms": []}
        for path in self._read:
            value = get(self._before, path)
            if isinstance(value, torch.Tensor):
                if path not in used:
                    entry["forms"].append(writer.place(path) | {"dtype": str(value.dtype), "shape": list(value.shape)})
            elif isinstance(value, _CONTAINERS) or is_object(value):
                writer.owner(path)
            else:
                try:
                    entry["same"].append(writer.place(path) | {"value": said(value)})
                except TypeError as error:
                    raise Unreadable(f"it reads {_text(path)}, {error}") from error
        for held, name in self._log.missing.values():
            if id(held) in self._paths and not hasattr(get(self._before, self._paths[id(held)]), name):
                entry["absent"].append({"of": writer.owner(self._paths[id(held)]), "name": name})
        entry["tensors"] = [writer.place(path) for path in used]
        entry["changes"] = [self._change(writer, change) for change in self.changes]
        return {"owners": writer.owners} | entry

    def _change(self, writer: _Writer, change: Change) -> dict[str, Any]:
        written = writer.place(change.path) | {"how": change.how}
        return written | {"value": said(change.value)} if change.how == "value" else written


class _Writer:
    """Numbers the owners of places."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._numbers: dict[Path, int] = {(): 0}
        self.owners: list[dict[str, Any]] = []

    def owner(self, path: Path) -> int:
        if path not in self._numbers:
            place = self.place(path)
            value = get(self._root, path)
            # The arguments' own form is compared when they are taken apart.
            length = len(value) if isinstance(value, _CONTAINERS) and len(path) > 1 else None
            self.owners.append(place | {"class": _kind(type(value)), "length": length})
            self._numbers[path] = len(self.owners)
        return self._numbers[path]

    def place(self, path: Path) -> dict[str, Any]:
        return {"of": self.owner(path[:-1]), "step": list(path[-1])}


def _kind(kind: type) -> str:
    """Returns the name by which a later call's object is compared. The user's file has another name in his program."""
    return kind.__qualname__ if kind.__module__.startswith(TASK_MODULE) else name_of(kind)


class _Log:
    """The attributes that were read and set, in order. The objects are held, so that each id stays one object's."""

    def __init__(self) -> None:
        self.read: dict[tuple[int, str], tuple[Any, str]] = {}
        self.written: dict[tuple[int, str], tuple[Any, str]] = {}
        self.missing: dict[tuple[int, str], tuple[Any, str]] = {}
        self.other = ""  # something that cannot be followed


def _watch(held: Any, log: _Log) -> None:
    """Makes the object note what happens to it."""
    kind: Any = type(held)

    def __getattribute__(self: Any, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        key = (id(self), name)
        if name == "__dict__":
            log.read.update({(id(self), n): (self, n) for n in own if (id(self), n) not in log.written})
        try:
            value = kind.__getattribute__(self, name)
        except AttributeError:
            if key not in log.written:
                log.missing.setdefault(key, (self, name))
            raise
        if name in own and key not in log.written:
            log.read.setdefault(key, (self, name))
        return value

    def __setattr__(self: Any, name: str, value: Any) -> None:
        log.written.setdefault((id(self), name), (self, name))
        kind.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        log.other = f"it deletes the attribute {name} of a {kind.__name__}"
        kind.__delattr__(self, name)

    watching = {"__getattribute__": __getattribute__, "__setattr__": __setattr__, "__delattr__": __delattr__}
    try:
        held.__class__ = type(kind.__name__, (kind,), {**watching, "__module__": kind.__module__, "__qualname__": kind.__qualname__})
    except TypeError as error:
        raise Unreadable(f"a {kind.__name__} cannot be followed") from error


def _stored_as(path: Path, value: Any) -> Change:
    if isinstance(value, torch.Tensor):
        return Change(path, "tensor")
    try:
        kept = said(value)
    except TypeError as error:
        raise Unreadable(f"it sets {_text(path)} to {error}") from error
    if isinstance(kept, dict) and "class" in kept:
        raise Unreadable(f"it sets {_text(path)} to a class")
    return Change(path, "value", value)


def _walk(root: Any) -> Iterator[tuple[Any, Path, bool]]:
    """Returns everything within the arguments once, with the first path to it and whether an object holds it."""
    rest: list[tuple[Any, Path, bool]] = [(root, (), False)]
    seen: set[int] = set()
    while rest:
        value, path, inside = rest.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value, path, inside
        children = [(child, (*path, step), inside or is_object(value)) for step, child in _children(value)]
        rest += reversed(children)


def _children(value: Any) -> list[tuple[Step, Any]]:
    if isinstance(value, dict):
        return [((False, key), child) for key, child in value.items()]
    if isinstance(value, (list, tuple)):
        return [((False, index), child) for index, child in enumerate(value)]
    if is_object(value):
        return [((True, name), child) for name, child in vars(value).items()]
    return []


def _with_items(value: Any, path: Path) -> Iterator[Path]:
    """Returns the path, and those of the items if it is a container. Objects note themselves what is read in them."""
    yield path
    if isinstance(value, _CONTAINERS):
        if len(value) > _MOST_ITEMS:
            raise Unreadable(f"it reads {_text(path)}, which has {len(value)} items")
        for step, child in _children(value):
            if not is_object(child):
                yield from _with_items(child, (*path, step))


def _text(path: Path) -> str:
    """Returns a path as one would write it, without the part that says where the object is among the arguments."""
    return "".join(f".{key}" if by_name else f"[{key!r}]" for by_name, key in path[2:]).lstrip(".") or "an argument"
