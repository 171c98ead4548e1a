"""Code shared by the scripts of this folder: progress lines, the result file, the machine in words."""

import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
from typing import NoReturn

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text) -> NoReturn:
    say(f"{pathlib.Path(sys.argv[0]).name}: {text}")
    sys.exit(2)


def program(build, name):
    path = (ROOT / build / name).resolve()
    if not path.exists():
        fail(f"{path} is not there: run `make` first, or give --build")
    return path


def add_common(parser, out):
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS / out,
                        help=f"Markdown file to write (default: docs/results/{out})")


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def machine_line():
    load = os.getloadavg()[0]
    return (f"{processor()}, {len(os.sched_getaffinity(0))} processors, Linux {platform.release()}; "
            f"load average at the end {load:.1f}")


def commit():
    text = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"],
                          capture_output=True, text=True, check=False).stdout.strip()
    return text or "unknown"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write_result(path, title, command, parts):
    """Writes a result file. `parts` are Markdown paragraphs. The head says when, where and from which sources."""
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    head = [f"# {title}", f"`{command}`, {today}, sources {commit()}.\n{machine_line()}."]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(path.suffix + ".part")
    temporary.write_text("\n\n".join(head + parts) + "\n", encoding="utf-8")
    temporary.replace(path)
    say(f"wrote {path}")


def command_line():
    return " ".join(["bench/" + pathlib.Path(sys.argv[0]).name, *sys.argv[1:]])


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0


def bootstrap(logs, rng, draws=4000):
    """Returns the 95 % interval of exp(mean). `logs` holds one logarithm for each resampled unit."""
    means = sorted(sum(rng.choices(logs, k=len(logs))) / len(logs) for _ in range(draws))
    return [math.exp(means[int(draws * share)]) for share in (0.025, 0.975)]


def geomean_in_words(values, rng):
    """Formats the geometric mean with its interval over tasks."""
    if not values:
        return ""
    low, high = bootstrap([math.log(value) for value in values], rng)
    return f"{geomean(values):.2f} ({low:.2f} to {high:.2f})"


def median(values):
    return statistics.median(values)


def read_rows(path):
    """Reads a file with one JSON object per line, to which a long run appends. A missing file has no rows."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line]


INTERRUPTED = 130  # exit code
CUT = 124  # exit code of a search that exceeded its time limit, as timeout(1) returns it


def search(command, limit_s=None):
    """Runs a search with --json. Returns its reply, or None, and the process. After `limit_s` the search is interrupted
    and its exit code is CUT. If something else interrupts the search, this script ends too, because the figures could
    be mistaken for those of a complete search."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        cut = False
        try:
            out, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            cut = True
            process.terminate()
            out, errors = process.communicate()
    done = subprocess.CompletedProcess(command, CUT if cut else process.returncode, out, errors)
    try:
        reply = json.loads(out)
    except json.JSONDecodeError:
        reply = None
    if not cut and (done.returncode == INTERRUPTED or (reply or {}).get("stopped") == "interrupted"):
        fail("the search was interrupted; its row is not written")
    return reply, done


def last_json(text, what):
    """Returns the single object that a --json command prints."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{what} printed nothing")
    return json.loads(lines[-1])
