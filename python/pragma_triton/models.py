"""Models: an exported ModelNew with Triton kernels, one for each set, for calls as a user makes them."""

from __future__ import annotations

from typing import Any

from pragma_candidate.binding import bound_plan, new_model
from pragma_candidate.outputs import store
from pragma_torch.exchange import Opened
from pragma_torch.instance import Instance
from pragma_torch.plan import fill


class Models:
    def __init__(self, model_class: Any, opened: Opened, device: str) -> None:
        self._instances = []
        self._outputs = opened.outputs
        self._results: list[Any] = []
        init = [fill(template, []) for template in opened.solution["init"]]
        for arguments in opened.arguments:
            model = new_model(model_class, init, opened.solution["mode"]).to(device)
            instance = Instance(model, bound_plan(model, opened.plan))
            instance.bind(arguments)
            self._instances.append(instance)

    def call(self, order: list[int]) -> None:
        """Keeps what the calls return."""
        self._results.clear()
        keep, instances = self._results.append, self._instances
        for i in order:
            instance = instances[i]
            keep(instance.model(*instance.inputs))

    def deliver(self, order: list[int]) -> None:
        """Copies what the last calls returned to the outputs of these sets. Raises WrongForm."""
        results, self._results = self._results, []
        for i, result in zip(order, results, strict=True):
            store(result, self._outputs[i])

    def let_go(self) -> None:
        self._results.clear()
