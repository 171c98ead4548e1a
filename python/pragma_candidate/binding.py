"""Makes a ModelNew, and determines which of its tensors are the task's parameters: by name, otherwise by order and
shape."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from pragma_candidate.service import Unloadable
from pragma_torch.instance import get_state, owner_of
from pragma_torch.plan import Argument, Plan, fill

SEED = 42  # KernelBench's seed, set before each construction


def new_model(model_class: Any, solution: dict[str, Any]) -> torch.nn.Module:
    """Returns a ModelNew. `solution` has the constructor's arguments ("init", "init_keywords"), and the mode in which it
    is judged: "training" or "eval"."""
    init = [fill(template, []) for template in solution["init"]]
    keywords = {name: fill(template, []) for name, template in solution.get("init_keywords", [])}
    torch.manual_seed(SEED)
    model = model_class(*init, **keywords)
    if solution.get("mode") == "eval":
        model.eval()
    return model


def bound_plan(model: torch.nn.Module, plan: Plan) -> Plan:
    """Returns the plan with the places in this ModelNew. Raises Unloadable with one clear line."""
    own = _own_state(model)
    taken = {place for argument in plan.arguments for place in _named(model, argument)}
    rest = [(name, tensor) for name, tensor in own if name not in taken]
    arguments = []
    for number, argument in enumerate(plan.arguments):
        places = _named(model, argument)
        if argument.places and not places:
            places = _next_alike(rest, argument)
        if argument.places and not places and _needed(argument, number in plan.updates):
            raise Unloadable(
                f"ModelNew has no place for Model's {argument.role} {argument.path} "
                f"{argument.shape} {argument.dtype}: keep Model's parameters under their names, or "
                "in their order with their shapes"
            )
        arguments.append(Argument(**{**vars(argument), "places": places}))
    return dataclasses.replace(plan, arguments=arguments)


def _own_state(model: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    return [*model.named_parameters(), *model.named_buffers()]


def _named(model: torch.nn.Module, argument: Argument) -> list[str]:
    return [place for place in argument.places if _fits(_state(model, place), argument)]


def _state(model: torch.nn.Module, place: str) -> object:
    try:
        owner_of(model, place)
        return get_state(model, place)
    except AttributeError:
        return None


def _fits(value: object, argument: Argument) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and list(value.shape) == argument.shape
        and value.dtype == argument.torch_dtype
    )


def _next_alike(rest: list[tuple[str, torch.Tensor]], argument: Argument) -> list[str]:
    for index, (name, tensor) in enumerate(rest):
        if _fits(tensor, argument):
            del rest[index]
            return [name]
    return []


def _needed(argument: Argument, is_output: bool) -> bool:
    """A constant may be written into the code, and a tensor that forward only updates is not an input."""
    return is_output or (argument.role != "constant" and not argument.mutated)
