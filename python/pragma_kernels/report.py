"""What stats, explain and others say of a model with kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from pragma_kernels.installed import Installed, installed


def stats(model: torch.nn.Module) -> dict[str, dict[str, Any]]:
    """Returns, for each path at which a package is or could have been installed, what happened to the calls.

    `calls` were served by a kernel; `fallbacks` by the original forward, by reason; `errors` by the original forward after
    a failure of this package; `copied` is the number of tensors that had to be copied to be contiguous and aligned. A path
    that was refused has the reason as `refused`.

    A graph of torch.compile in which the original forward serves the module counts once, as a fallback whose reason begins
    with "compiled". Graphs of torch.compile call the operator without saying for which module. Their calls are shared
    equally among the compiled modules that run the same kernel.
    """
    served = {path: held for path, module in model.named_modules() if (held := installed(module)) is not None}
    found = {path: _entry(held, served) for path, held in served.items()}
    for held in served.values():
        for path, reason in held.refused.items():
            found.setdefault(path, _refused(reason))
    return found


def by_unit(model: torch.nn.Module) -> dict[str, dict[str, Any]]:
    """Returns, for each unit that is installed, how many calls it served, how many failed in it, and the last reason why the
    original forward ran instead."""
    found: dict[str, dict[str, Any]] = {}
    for one in _all_variants(model):
        entry = found.setdefault(one.unit.name, {"calls": 0, "errors": 0, "why": ""})
        entry["calls"] += one.counts.calls
        entry["errors"] += one.counts.errors
        why = one.counts.last.get("error", "") or next(iter(one.counts.fallbacks), "")
        entry["why"] = why or entry["why"]
    return found


def slow_launches(model: torch.nn.Module) -> dict[str, str]:
    """Returns the installed kernels whose launches are not replayed as graphs, or not always, with the reason."""
    return {kernel.name: kernel.slow for one in _all_variants(model) for kernel in one.unit.kernels if kernel.slow}


def _all_variants(model: torch.nn.Module) -> Iterator[Installed]:
    for module in model.modules():
        held = installed(module)
        if held is not None:
            yield from held.variants()


def _entry(held: Installed, served: dict[str, Installed]) -> dict[str, Any]:
    every = list(held.variants())
    return {
        "unit": ", ".join(one.unit.name for one in every),
        "calls": sum(one.counts.calls + _compiled_calls(one, served) for one in every),
        "fallbacks": dict(every[-1].counts.fallbacks),
        "errors": sum(one.counts.errors for one in every),
        "copied": sum(one.counts.copied for one in every),
    }


def _refused(reason: str) -> dict[str, Any]:
    return {"unit": "", "calls": 0, "fallbacks": {}, "errors": 0, "copied": 0, "refused": reason}


def _compiled_calls(held: Installed, served: dict[str, Installed]) -> int:
    if not held.traced_from:
        return 0
    traced = [other for head in served.values() for other in head.variants() if other.traced_from]
    # The kernel which the fewest others run tells most about this module.
    kernel = min(held.unit.kernels, key=lambda k: sum(other.unit.kernels.count(k) for other in traced))
    sharing = [other for other in traced if kernel in other.unit.kernels]
    before = min(other.traced_from[kernel.name] for other in sharing)
    runs = sum(other.unit.kernels.count(kernel) for other in sharing)
    made = kernel.calls() - kernel.calls_counted - before
    return made // runs + (1 if sharing.index(held) < made % runs else 0)


def explain(model: torch.nn.Module) -> str:
    """Returns a table, one line for each path, and below it what was found last for each reason."""
    rows = [("path", "unit", "calls", "original", "errors", "why the original ran")]
    notes = []
    for path, entry in stats(model).items():
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(entry["fallbacks"].items()))
        why = f"not installed: {entry['refused']}" if "refused" in entry else reasons
        calls, original, errors = str(entry["calls"]), str(sum(entry["fallbacks"].values())), str(entry["errors"])
        rows.append((path or "(model)", entry["unit"] or "-", calls, original, errors, why or "-"))
    for path, module in model.named_modules():
        held = installed(module)
        if held is not None:
            last = list(held.variants())[-1].counts.last
            notes += [f"{path or '(model)'}: {reason}: {found}" for reason, found in last.items()]
    notes += [f"{name}: {why}" for name, why in slow_launches(model).items()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *notes])
