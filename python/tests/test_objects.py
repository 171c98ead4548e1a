"""Objects among a module's arguments: what of them is read and changed, and how a call with a kernel does the same."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import torch
from pragma_kernels.objects import Places
from pragma_model.modelfile import Call
from pragma_model.objects import Observed, Unreadable, twin_arguments
from pragma_model.unit import NotAUnit, Unit


class Slot:
    def __init__(self, size: int = 0) -> None:
        self.keys: Any = torch.arange(2.0 * size).reshape(2, size) if size else None
        self.ready = size > 0
        self.seen = size
        self.name = "slot"

    def update(self, new: torch.Tensor) -> torch.Tensor:
        if not self.ready:
            self.keys, self.ready, self.dtype = new[:, :0], True, new.dtype
        self.keys = torch.cat([self.keys, new], -1)
        self.seen += new.shape[-1]
        return self.keys


class Cache:
    def __init__(self, size: int = 0) -> None:
        self.slots = [Slot(size) for _ in range(3)]
        self.states: dict[int, Any] = {0: torch.ones(2, 4), 1: None}
        self.unused = torch.full((1000,), 7.0)

    def update(self, new: torch.Tensor, index: int) -> torch.Tensor:
        return self.slots[index].update(new)


class Grows(torch.nn.Module):
    """Puts its input into a cache, and returns sums of all that is there."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def forward(self, x: torch.Tensor, *, cache: Cache) -> torch.Tensor:
        return torch.tanh(cache.update(x * 2, self.index)).sum(-1)


class Writes(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Cache) -> torch.Tensor:
        cache.states[0].mul_(0.5).add_(x)
        cache.states[1] = cache.states[0] + 1
        return cache.states[0] * 3


X = torch.linspace(-1, 1, 8).reshape(2, 4)


def stored(places: Any, call: tuple[Any, Any], result: Any, tensors: list[torch.Tensor]) -> Any:
    """Returns what a kernel with these results leaves. The places go through JSON, as in a package."""
    return Places(json.loads(json.dumps(places))).store(*call, (result, tuple(tensors)))


def test_a_tensor_that_is_read_is_an_input_and_one_that_is_stored_an_output() -> None:
    cache = Cache(3)
    before = copy.deepcopy(cache)
    unit = Unit(Grows(1), Call((X,), {"cache": cache}), "part", "model.py")
    assert torch.equal(cache.slots[1].keys, before.slots[1].keys) and cache.slots[1].seen == 3  # the user's is left alone
    task = unit.task("a part")
    assert [origin for origin in task["arguments"].values()] == [{"leaf": 0}, {"slot": 0}]
    assert len(task["outputs"]) == 2 and unit.stored() == [{"result": 1}]
    places = Places(json.loads(json.dumps(unit.places())))
    (keys,) = places.read((X,), {"cache": cache}) or ()
    assert keys is cache.slots[1].keys
    names: dict[str, Any] = {}
    exec(task["source"], names)
    results = names["Model"]()(X, keys)
    results = [results[number] for number in task["outputs"]]
    result = places.store((X,), {"cache": cache}, (results[0], (results[1],)))
    assert torch.allclose(result, Grows(1)(X, cache=before))
    assert torch.equal(cache.slots[1].keys, before.slots[1].keys) and cache.slots[1].seen == before.slots[1].seen == 7


def test_an_empty_cache_gets_what_forward_sets() -> None:
    cache = Cache()
    unit = Unit(Grows(2), Call((X,), {"cache": cache}), "part", "model.py")
    places = unit.places()
    assert Places(places or {}).read((X,), {"cache": cache}) == ()
    assert stored(places, ((X,), {"cache": cache}), 5, [X]) == 5
    assert cache.slots[2].keys is X and cache.slots[2].ready and cache.slots[2].dtype == torch.float32


def test_content_that_changes_in_place_changes_in_place() -> None:
    cache, expected = Cache(), Cache()
    wanted = Writes()(X, expected)
    unit = Unit(Writes(), Call((X, cache), {}), "part", "model.py")
    names: dict[str, Any] = {}
    task = unit.task("a part")
    exec(task["source"], names)
    held = cache.states[0]
    read = Places(unit.places() or {}).read((X, cache), {}) or ()
    results = names["Model"]()(X, *read)
    results = [results[number] for number in task["outputs"]]
    got = stored(unit.places(), ((X, cache), {}), results[0], [results[place["result"]] for place in unit.stored()])
    assert torch.allclose(got, wanted)
    assert cache.states[0] is held and torch.allclose(held, expected.states[0])
    assert torch.allclose(cache.states[1], expected.states[1])


def changed(**what: Any) -> Cache:
    cache = Cache(3)
    for name, value in what.items():
        setattr(cache.slots[1], name, value)
    return cache


class Other(Cache):
    pass


@pytest.mark.parametrize(
    "cache",
    [
        changed(ready=False),
        changed(seen=4),
        changed(seen=3.0),
        changed(keys=None),
        changed(keys=[1.0]),
        Other(3),
        None,
        torch.ones(3),
    ],
)
def test_an_object_in_another_state_is_left_to_the_original(cache: Any) -> None:
    places = Places(Unit(Grows(1), Call((X,), {"cache": Cache(3)}), "part", "model.py").places() or {})
    assert places.read((X,), {"cache": Cache(3)}) is not None
    assert places.read((X,), {"cache": cache}) is None
    longer = Cache(3)
    longer.slots.append(Slot(3))
    assert places.read((X,), {"cache": longer}) is None
    missing = Cache(3)
    del missing.slots[1].ready
    assert places.read((X,), {"cache": missing}) is None


def test_what_is_not_read_does_not_matter() -> None:
    places = Places(Unit(Grows(1), Call((X,), {"cache": Cache(3)}), "part", "model.py").places() or {})
    cache = Cache(3)
    cache.slots[0].seen, cache.slots[1].name, cache.unused = 99, "other", torch.zeros(1)
    assert places.read((X,), {"cache": cache}) is not None


class Asks(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Any) -> torch.Tensor:
        return x * (2 if hasattr(cache, "doubled") else 1) * cache.slots[0].keys.shape[0]


def test_an_attribute_that_was_missed_must_stay_away_and_a_size_must_stay() -> None:
    places = Places(Unit(Asks(), Call((X, Cache(3)), {}), "part", "model.py").places() or {})
    doubled, wider, longer = Cache(3), Cache(3), Cache(3)
    doubled.doubled = True  # type: ignore[attr-defined]
    wider.slots[0].keys = wider.slots[0].keys.double()
    longer.slots[0].keys = torch.ones(3, 3)
    assert places.read((X, Cache(3)), {}) == ()
    assert [places.read((X, cache), {}) for cache in (doubled, wider, longer)] == [None, None, None]


class Appends(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Any) -> torch.Tensor:
        cache.slots.append(Slot())
        return x * 2


class Replaces(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Any) -> torch.Tensor:
        cache.slots[0] = Slot()
        cache.extra = lambda: x
        return x * 2


class Deletes(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Any) -> torch.Tensor:
        del cache.unused
        return x * 2


@pytest.mark.parametrize(
    ("module", "why"),
    [(Appends(), "slots gets another length"), (Replaces(), "it sets extra to a function"), (Deletes(), "deletes the attribute unused")],
)
def test_what_cannot_be_followed_says_why(module: torch.nn.Module, why: str) -> None:
    with pytest.raises(NotAUnit, match=why):
        Unit(module, Call((X, Cache(3)), {}), "part", "model.py")
    with pytest.raises(Unreadable):
        Observed(module, (X, Cache(3)), {})


def test_copies_share_what_the_originals_share() -> None:
    slot = Slot(3)
    pair = Cache()
    pair.slots = [slot, slot]
    pair.owner = pair  # type: ignore[attr-defined]
    (copied,), _ = twin_arguments((pair,), {})
    assert copied.slots[0] is copied.slots[1] and copied.slots[0] is not slot and copied.owner is copied
    assert copied.slots[0].keys is slot.keys
