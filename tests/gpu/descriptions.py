"""Whether a task is described on a GPU as it is on the CPU, which takes longer.

  descriptions.py DIR [DIR ...]     compares the two for every task, prints what differs and the seconds of each

The GPU comes second in the same process, where Torch has done some things already that the first description waited for.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from pragma_torch.describe import describe  # noqa: E402
from pragma_torch.errors import TaskError  # noqa: E402


def described(path: pathlib.Path, device: str) -> tuple[dict[str, object], float]:
    """Returns the description, or the error as one, and the seconds that it took."""
    started = time.perf_counter()
    try:
        found = describe(str(path), device=device).description
    except TaskError as error:
        found = {"error": error.message}
    return json.loads(json.dumps(found)), time.perf_counter() - started


def main() -> int:
    paths = sorted(path for folder in sys.argv[1:] for path in pathlib.Path(folder).rglob("*.py"))
    if not paths:
        print(__doc__)
        return 2
    differing = 0
    for path in paths:
        on_cpu, cpu_seconds = described(path, "cpu")
        on_gpu, gpu_seconds = described(path, "cuda")
        fields = [name for name in {**on_cpu, **on_gpu} if on_cpu.get(name) != on_gpu.get(name)]
        differing += bool(fields)
        said = "; ".join(f"{n}: {str(on_cpu.get(n))[:80]} / {str(on_gpu.get(n))[:80]}" for n in fields)
        print(f"{path.stem}: {'DIFFERS ' + said if fields else 'the same'}, {cpu_seconds:.2f} s, {gpu_seconds:.2f} s", flush=True)
    print(f"{len(paths) - differing} of {len(paths)} are the same")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
