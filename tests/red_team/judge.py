"""What the red team and the honest suite share: cases read from the kernels' first lines, judged in groups by the
real `pragma evaluate`, which keeps one reference warm for all candidates of a group."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PRAGMA = pathlib.Path(os.environ.get("PRAGMA_BUILD", ROOT / "build")).resolve() / "pragma"
TASK_FOLDERS = [HERE / "tasks", HERE.parent / "honest" / "tasks", HERE.parent / "e2e" / "tasks", *sorted((ROOT / "tasks").glob("*/"))]
LIMIT_SECONDS = 1200  # for one command, on a machine that does much else
MOST_IN_A_GROUP = 16
AT_ONCE = 2  # two cores: one builds while another waits for the machine's timing lock


@dataclass(frozen=True)
class Case:
    """One candidate and the verdicts it may get: its first line says it, see README.md."""

    name: str
    path: pathlib.Path
    task: str
    expect: frozenset[str]
    text: str  # what it does
    catalogue: str = ""
    layer: str = ""
    words: frozenset[str] = frozenset()  # absolute, heuristic, own, no-timing, alone, slow
    options: tuple[str, ...] = ()  # of pragma evaluate
    note: str = ""  # part of a check's detail that must be there

    @property
    def timed(self) -> bool:
        return "no-timing" not in self.words

    @property
    def group(self) -> tuple:
        """What may be refused as bad usage is judged alone: it would end the command of the others."""
        single = "alone" in self.words or "usage" in self.expect
        return (self.task, self.timed, self.options, self.name if single else "")


def read_case(path: pathlib.Path, mark: str) -> Case:
    """`path` is a kernel, a Python file, or a folder whose about.txt holds the same lines."""
    about = path / "about.txt" if path.is_dir() else path
    lines = about.read_text(errors="replace").splitlines()
    head = f"{'#' if path.suffix == '.py' else '//'} {mark}: "
    assert lines[0].startswith(head), f"{path}: the first line must begin with {head!r}"
    words = shlex.split(lines[0].removeprefix(head))
    named = dict(word.split("=", 1) for word in words if "=" in word)
    text = []
    for line in lines[1:]:
        if not line.startswith("// ") or line.startswith("// pragma-"):
            break
        text.append(line.removeprefix("// "))
    options = [f"--{key}={named[key]}" for key in ("threads", "run-limit") if key in named]
    options += ["--strict-nan"] if "strict-nan" in words else []
    return Case(
        name=path.stem if path.is_file() else path.name,
        path=path,
        task=named["task"],
        expect=frozenset(named.get("expect", "passed").split(",")),
        text=" ".join(text),
        catalogue=named.get("catalogue", ""),
        layer=named.get("layer", ""),
        words=frozenset(word for word in words if "=" not in word),
        options=tuple(options),
        note=named.get("note", "").replace("_", " "),
    )


def read_cases(folder: pathlib.Path, mark: str) -> list[Case]:
    files = [*folder.glob("*.cpp"), *(folder.glob("*.py") if folder.name == "red_team_python" else ()), *(about.parent for about in folder.glob("*/about.txt"))]
    return [read_case(path, mark) for path in sorted(files)]


def find_task(case: Case) -> pathlib.Path:
    """Solutions in Python are for the tasks of tests/e2e, some of which have a namesake here."""
    own = [HERE.parent / "e2e" / "tasks"] if case.path.suffix == ".py" else []
    for folder in [*own, *TASK_FOLDERS]:
        if (folder / f"{case.task}.py").exists():
            return folder / f"{case.task}.py"
    raise FileNotFoundError(f"no task {case.task}")


def selected(request, cases: list[Case]) -> list[Case]:
    """Those that this run of pytest asks for, by the parameter `case`."""
    params = [getattr(getattr(item, "callspec", None), "params", {}) for item in request.session.items]
    names = {param["case"].name for param in params if "case" in param}
    return [case for case in cases if case.name in names]


def grouped(cases: list[Case]) -> list[list[Case]]:
    """Cases that one command can judge, in handy portions; the timed ones last, for they wait for each other."""
    by_key: dict[tuple, list[Case]] = {}
    for case in cases:
        by_key.setdefault(case.group, []).append(case)
    portions = [group[i : i + MOST_IN_A_GROUP] for group in by_key.values() for i in range(0, len(group), MOST_IN_A_GROUP)]
    return sorted(portions, key=lambda portion: (portion[0].timed, -len(portion)))


@dataclass
class Verdict:
    """What `pragma evaluate` said about one case."""

    status: str  # an evaluation's, or "usage", or "trouble" (ours)
    reason: str
    runs: list[dict] = field(default_factory=list)  # one object per repetition

    @property
    def statuses(self) -> list[str]:
        return [run["status"] for run in self.runs] or [self.status]


class Judge:
    """Runs the program in a folder of its own. Each case is judged once, together with its group."""

    def __init__(self, folder: pathlib.Path, repeat: int = 1, on_verdict=None, timing: bool = True, home=None, jail: str = ""):
        """`home`: a store with the machine's figures, which is copied. Without it they must be measured.
        `jail`: the only kind of jail to use, "full" or "reduced"."""
        self.folder = folder
        self.repeat = repeat
        self.jail = ["--jail", jail] if jail else []
        self.timing = timing  # False: checks only, also for cases that could be timed
        self.on_verdict = on_verdict or (lambda case, verdict: None)
        self.pool = ThreadPoolExecutor(AT_ONCE)
        self.quiet_pool = ThreadPoolExecutor(1)
        self.futures: dict[str, Future] = {}
        self.lock = threading.Lock()
        for name in ("home", "tmp", "user"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        if home:
            sys.path.insert(0, str(HERE.parent))
            from shared import copied_home  # needs pytest, which run.py does not

            copied_home(home, folder / "home")

    @property
    def environment(self) -> dict[str, str]:
        """Whatever is written to the home folder or the folder for temporary files can be seen afterwards."""
        kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "PRAGMA_LOG")}
        return {**kept, "LC_ALL": "C.UTF-8", "HOME": str(self.folder / "user"), "TMPDIR": str(self.folder / "tmp")}

    def command(self, cases: list[Case], *more: str) -> list[str]:
        first = cases[0]
        timing = ["--no-compile-baseline"] if first.timed and self.timing else ["--no-timing"]
        paths = [str(case.path) for case in cases]
        return [str(PRAGMA), "evaluate", str(find_task(first)), *paths, "--json", "--home", str(self.folder / "home"), *timing, *self.jail, *first.options, *more]

    def run(self, cases: list[Case]) -> tuple[int, dict]:
        more = ["--repeat", str(self.repeat)] if self.repeat > 1 else []
        done = subprocess.run(self.command(cases, *more), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS * self.repeat)
        assert done.returncode >= 0, f"pragma died of signal {-done.returncode}: {done.stderr}"
        return done.returncode, json.loads(done.stdout)

    def measure_machine(self) -> None:
        """Once per store, and before anything else runs beside it."""
        kernel = HERE.parent / "e2e" / "kernels" / "good.cpp"
        code, result = Judge.run(self, [Case("good", kernel, "scale", frozenset({"passed"}), "", words=frozenset({"no-timing"}))])
        assert code == 0, result

    def _judge(self, cases: list[Case]) -> dict[str, Verdict]:
        code, result = self.run(cases)
        if "failure" in result and len(cases) > 1:  # one of them ended the whole command: which?
            return {name: verdict for case in cases for name, verdict in self._judge([case]).items()}
        if "failure" in result:
            verdicts = [Verdict("usage" if code == 2 else "trouble", result["failure"]["message"])]
        else:
            objects = result["evaluations"] if len(cases) > 1 else [result]
            verdicts = [Verdict(o["status"], o.get("reason") or "", o.get("runs", [o])) for o in objects]
            failed = any(status != "passed" for verdict in verdicts for status in verdict.statuses)
            assert code == (1 if failed else 0), f"exit {code}"
        named = {case.name: verdict for case, verdict in zip(cases, verdicts, strict=True)}
        for case in cases:
            self.on_verdict(case, named[case.name])
        return named

    def _judge_in_quiet(self, cases: list[Case], others: list[Future]) -> dict[str, Verdict]:
        wait(others)
        return self._judge(cases)

    def start(self, cases: list[Case]) -> None:
        """Those that are judged alone come last: what two processors do must be theirs."""
        groups = grouped(cases)
        shared = [group for group in groups if "alone" not in group[0].words]
        futures = [self.pool.submit(self._judge, group) for group in shared]
        for group, future in zip(shared, futures, strict=True):
            self.futures.update({case.name: future for case in group})
        for group in groups:
            if "alone" in group[0].words:
                self.futures[group[0].name] = self.quiet_pool.submit(self._judge_in_quiet, group, futures)

    def close(self) -> None:
        """Nothing that has not begun begins; what has begun ends."""
        for pool in (self.quiet_pool, self.pool):
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in (self.pool, self.quiet_pool):
            pool.shutdown(wait=True)

    def verdict(self, case: Case) -> Verdict:
        return self.futures[case.name].result()[case.name]
