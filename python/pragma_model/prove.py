"""Proof: compares and times a whole model with and without its kernels. What is kept is decided by pragma (app/)."""

from __future__ import annotations

import copy
import importlib
import pathlib
import random
import signal
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from pragma_model.modelfile import Call, ModelFile
from pragma_model.place import Place
from pragma_model.values import distance, result_of, wide, wide_result
from pragma_torch.errors import ServerError, one_line
from pragma_torch.taskfile import SEED

_SEEDS = (101, 202)  # of the fresh inputs on which results are compared
_SHORTEST = 0.02  # seconds of one sample: shorter calls are repeated
_TRIES = 3  # samples of a compiled copy, to learn which mode is the fastest
_WIDE_BYTES = 8  # of a number in float64
_WIDE_MEMORY = 0.6  # of the free memory, for a float64 copy of the model


class Proof:
    """A model, copies of it that are compiled, and the folder with its kernels."""

    def __init__(self, file: str, folder: pathlib.Path, place: Place, say: Callable[[str], None]) -> None:
        self._say = say
        self._place = place
        self._folder = str(folder)
        say("building the model")
        self._file = ModelFile(file)
        self._model = place.model(self._file.make_model())
        self._calls = self._made_calls()
        self._compiled: dict[str, Any] = {}  # copies that torch.compile has compiled, by the side's name
        self._wide: torch.nn.Module | None = None
        self._slow: dict[str, str] = {}  # kernels that the host launches one by one, with the reason
        sys.path.insert(0, self._folder)
        self._kernels = importlib.import_module("pragma_kernels")

    def _made_calls(self, seed: int = SEED) -> list[Call]:
        return [self._place.call(call) for call in self._file.make_calls(seed)]

    def first(self, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the seconds and peak bytes of a first call, with Torch alone and with all kernels installed."""
        found = {}
        for name, units in (("eager", None), ("kernels", message["units"])):
            began = self._place.now()
            self._place.forget_peak()
            self._install(units)
            self._run_all(self._model, copy.deepcopy(self._calls))
            found[name] = {"seconds": self._place.now() - began, "bytes": self._place.peak_bytes()}
            self._remove(units)
        return found

    def check(self, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the errors of the model's results with these units installed, beside Torch's own, on fresh inputs; and
        which of the units did not compute, with the reason: the model is right with these too, by its own forward. Where
        `compiled` names a compiled copy, the results are that one's."""
        self._say("computing the truth in float64")
        reference = self._reference()
        errors = []
        served = _Served(message["units"])
        for seed in _SEEDS:
            for call in self._made_calls(seed):
                errors += self._errors(call, reference, lambda call: self._result(message, call, served))
        name = "eager" if reference is None else "float64"
        return {"errors": errors, "reference": name, "sets": len(_SEEDS), "unserved": served.unserved()}

    def _errors(
        self, call: Call, reference: torch.nn.Module | None, result: Callable[[Call], list[torch.Tensor]]
    ) -> list[dict[str, Any]]:
        """Returns the error of each tensor that `result` returns of one call."""
        eager = result_of(self._model, call)
        truth = eager if reference is None else wide_result(reference, call)
        self._say("comparing the whole model")
        got = result(call)
        if not len(got) == len(eager) == len(truth):
            raise ServerError("the model returns another number of tensors with its kernels")
        return [
            {"error": _finite(distance(g, t)), "eager": _finite(distance(e, t)), "float": g.is_floating_point()}
            for g, e, t in zip(got, eager, truth, strict=True)
        ]

    def _result(self, message: dict[str, Any], call: Call, served: _Served) -> list[torch.Tensor]:
        if message.get("compiled"):
            return result_of(self._compiled[message["compiled"]], call, torch.inference_mode)
        self._install(message["units"])
        got = result_of(self._model, call)
        served.add(self._kernels.by_unit(self._model))
        self._remove(message["units"])
        return got

    def compile(self, message: dict[str, Any]) -> dict[str, Any]:
        """Compiles copies of the model, with these units installed, by torch.compile, one in each mode of the place. The
        fastest is the side `name` from then on. Returns its mode and the seconds that took, or why none compiles (the first
        mode's reason)."""
        began = perf_counter()
        tried: dict[str, str] = {}  # by mode, how long a call takes, or why it failed
        fastest, best = float("inf"), ""
        modes = self._place.compile_modes()
        for mode in modes:
            left = message["seconds"] - (perf_counter() - began)
            if left <= 0:
                break
            self._say(f"torch.compile compiles the model{' with its kernels' if message['units'] else ''} ({mode})")
            try:
                with _limit(left):
                    compiled = self._compiled_copy(message["units"], mode)
                    taken = self._quickest(compiled) if len(modes) > 1 else 0.0
            except BaseException as error:
                tried[mode] = _why(error, left)
                continue
            tried[mode] = f"{1e3 * taken:.2f} ms" if len(modes) > 1 else "compiled"
            if taken < fastest:
                fastest, best = taken, mode
                self._compiled[message["name"]] = compiled
        failure = "" if best else next(iter(tried.values()), "no time was left")
        return {"seconds": perf_counter() - began, "mode": best, "tried": tried, "failure": failure}

    def _compiled_copy(self, units: list[str], mode: str) -> Any:
        model = copy.deepcopy(self._model)
        if units:
            self._kernels.apply(model, self._folder, only=units)
        compiled = torch.compile(model, mode=mode)
        for _ in range(1 + self._place.warm_calls):  # the first one compiles
            self._run_all(compiled, copy.deepcopy(self._calls))
        return compiled

    def _quickest(self, model: Any) -> float:
        return min(self._sample_of(model, 1) for _ in range(_TRIES))

    def time(self, message: dict[str, Any]) -> dict[str, Any]:
        """Times sides in rounds: in each round every side runs all example calls, in a new order of the sides. Returns
        seconds, of all calls together. They are those of calls in a row: a side runs once before it is timed, since its
        first call after another side's pays for what that left in the caches, and for what is done once after `apply`.

        A side is "eager", the name of a compiled copy, or a list of units that are installed for it.
        """
        sides: dict[str, Any] = message["sides"]
        repeats = dict.fromkeys(sides, 1)
        for name, side in sides.items():  # to learn how long a call takes
            taken = self._sample(side, 1)
            repeats[name] = max(1, round(_SHORTEST / max(taken, 1e-6)))
        samples: dict[str, list[float]] = {name: [] for name in sides}
        order = list(sides)
        shuffle = random.Random(message["seed"]).shuffle
        began = perf_counter()
        while len(samples[order[0]]) < message["most"]:
            done = len(samples[order[0]])
            over = perf_counter() - began - message["seconds"]
            if over > 0 and (done >= message["least"] or done > 1 and over > message["seconds"]):
                break
            self._say(f"timing the whole model, round {done + 1}")
            shuffle(order)
            for name in order:
                samples[name].append(self._sample(sides[name], repeats[name]))
        return {"samples": samples, "slow_launches": self._slow}

    def _sample(self, side: Any, repeats: int) -> float:
        units = side if isinstance(side, list) else None
        self._install(units)
        taken = self._sample_of(self._model if side == "eager" or units else self._compiled[side], repeats)
        if units:
            self._slow |= self._kernels.slow_launches(self._model)
        self._remove(units)
        return taken

    def _sample_of(self, model: Any, repeats: int) -> float:
        # All arguments are made before the first call, so that memory is given out alike from call to call.
        before = self._place.warm_calls
        calls = [copy.deepcopy(call) for _ in range(before + repeats) for call in self._calls]
        self._run_all(model, calls[: before * len(self._calls)])
        began = self._place.now()
        self._run_all(model, calls[before * len(self._calls) :])
        return (self._place.now() - began) / repeats

    def _run_all(self, model: Any, calls: list[Call]) -> None:
        with torch.inference_mode():
            for call in calls:
                call.of(model)

    def _install(self, units: list[str] | None) -> None:
        if units:
            self._kernels.apply(self._model, self._folder, only=units)

    def _remove(self, units: list[str] | None) -> None:
        if units:
            self._kernels.remove(self._model)

    def _reference(self) -> torch.nn.Module | None:
        """Returns the model in float64, or None where it does not fit or does not run."""
        if self._wide is None:
            needed = sum(_WIDE_BYTES * t.numel() for t in self._model.state_dict().values())
            if needed > _WIDE_MEMORY * self._place.free_bytes():
                return None
            try:
                made = wide(self._model)
                wide_result(made, self._calls[0])
                self._wide = made
            except Exception:  # a model may insist on float32
                return None
        return self._wide


class _Served:
    """What units did in calls of the model."""

    def __init__(self, units: list[str]) -> None:
        self._calls = dict.fromkeys(units, 0)
        self._failed: dict[str, str] = {}
        self._why: dict[str, str] = {}

    def add(self, found: dict[str, dict[str, Any]]) -> None:
        for unit, entry in found.items():
            self._calls[unit] += entry["calls"]
            if entry["errors"]:
                self._failed[unit] = entry["why"]
            self._why[unit] = entry["why"] or self._why.get(unit, "")

    def unserved(self) -> dict[str, str]:
        """Returns the units that failed in a call, or served none, with the reason."""
        none = {unit: f"it serves no call of the model: {self._why.get(unit, '')}" for unit, n in self._calls.items() if n == 0}
        return none | {unit: f"its kernel fails in the model: {why}" for unit, why in self._failed.items()}


def _finite(value: float) -> float:
    return min(value, 1e300)  # JSON has no infinity


class _Late(BaseException):
    """The time is up. Code that catches each Exception does not catch it."""


def _why(error: BaseException, seconds: float) -> str:
    """Returns why a compilation failed that had so many seconds."""
    if isinstance(error, _Late):
        return f"not done in {seconds:.0f} s"
    why = getattr(error, "inner_exception", error)  # Torch wraps what its backends raise
    return f"{type(why).__name__}: {one_line(str(why))}"


class _limit:
    """Raises _Late in the main thread after some seconds, and again each second, in case that it is caught."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        def late(*_: Any) -> None:
            raise _Late

        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def __exit__(self, *_: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
