"""Takes units out of a package that is already written. What stays is not built again: what was measured is kept."""

from __future__ import annotations

import json
import pathlib
from typing import Any


def keep(folder: pathlib.Path, units: list[str]) -> None:
    """Leaves only these units in the package, in its manifest and on disk."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["units"] = [unit for unit in manifest["units"] if unit["name"] in units]
    called = {kernel for unit in manifest["units"] for kernel in unit["kernels"]}
    manifest["kernels"] = [kernel for kernel in manifest["kernels"] if kernel["name"] in called]
    wanted = _files(manifest)
    for name in list(manifest["files"]):
        if name.split("/")[0] in ("lib", "source", "units") and name not in wanted:
            (folder / name).unlink()
            del manifest["files"][name]
    path.write_text(json.dumps(manifest, indent=1) + "\n")


def _files(manifest: dict[str, Any]) -> set[str]:
    kernels = [kernel[key] for kernel in manifest["kernels"] for key in ("library", "source", "operator") if key in kernel]
    return {*kernels, *(unit["file"] for unit in manifest["units"])}
