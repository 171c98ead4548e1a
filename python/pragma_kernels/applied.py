"""Applied: what pragma_kernels.apply returns."""

from __future__ import annotations

import pathlib


class Applied(list[str]):
    """The paths at which a package is installed. `refused` has the others, each with the reason."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self.folder = folder
        self.refused: dict[str, str] = {}
