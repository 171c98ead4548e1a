"""The error of packing."""

from __future__ import annotations

from pragma_torch.errors import ServerError


class PackError(ServerError):
    """Why no package could be written: one line, and what a compiler said, if one did."""

    def __init__(self, line: str, detail: str = "") -> None:
        super().__init__(line + ("\n" + detail if detail else ""))
        self.line = line
        self.detail = detail
