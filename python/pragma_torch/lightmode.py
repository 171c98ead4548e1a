"""LightMode: a dispatch mode that does not load torch.compile."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class LightMode(TorchDispatchMode):
    """What the modes of this package derive from. They are active only where nothing is compiled."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Else torch wraps the mode to hide it from torch.compile, and imports torch.compile for that at the mode's
        first operator. This takes as long as importing torch, in the server of each evaluation."""
        return False
