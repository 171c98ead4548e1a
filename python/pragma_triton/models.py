"""Models: an exported ModelNew with Triton kernels, one for each set, for calls as a user makes them."""

from __future__ import annotations

from typing import Any

from pragma_candidate.binding import bound_plan, new_model
from pragma_candidate.outputs import complex_where, store
from pragma_torch.exchange import Opened
from pragma_torch.instance import Instance
from pragma_torch.loop import Call, last_of_loop, renewing


class Models:
    def __init__(self, model_class: Any, opened: Opened, device: str) -> None:
        self._instances: list[Instance] = []
        self._calls: list[Call] = []
        self._tree = opened.plan.tree
        self._outputs = [complex_where(self._tree, areas) for areas in opened.outputs]
        self._results: list[Any] = []
        for arguments in opened.arguments:
            own = [t.clone() if a.mutated else t for a, t in zip(opened.plan.arguments, arguments, strict=True)]
            # What forward changes: private copies, and their contents.
            changed = [(o, t) for o, t in zip(own, arguments, strict=True) if o is not t]
            model = new_model(model_class, opened.solution).to(device)
            instance = Instance(model, bound_plan(model, opened.plan))
            instance.bind(own)
            self._instances.append(instance)
            self._calls.append((renewing(instance.takes(instance.model), changed), instance.inputs))

    def call(self, order: list[int]) -> None:
        """Keeps what the calls return."""
        self._results.clear()
        self._results += [last_of_loop(self._calls[i], 1) for i in order]

    def loop(self, order: list[int], times: int) -> None:
        """Keeps what the last call returns (last_of_loop)."""
        self._results.clear()
        self._results.append(last_of_loop(self._calls[order[0]], times))

    def deliver(self, order: list[int]) -> None:
        """Copies what the last calls returned to the outputs of these sets. Raises WrongForm."""
        results, self._results = self._results, []
        for i, result in zip(order, results, strict=True):
            instance = self._instances[i]
            store(result, self._outputs[i], self._tree, instance.updated())

    def let_go(self) -> None:
        self._results.clear()
