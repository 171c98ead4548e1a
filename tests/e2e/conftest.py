"""Runs the real program: real builds, jails, references, timings. Models are scripts."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from shared import copied_home, made_once, measured_home  # noqa: E402

TASKS = HERE / "tasks"
KERNELS = HERE / "kernels"
GOLDEN = HERE / "golden"
PRAGMA = pathlib.Path(os.environ.get("PRAGMA_BUILD", ROOT / "build")).resolve() / "pragma"
LIMIT_SECONDS = 1200  # for one command, on a machine that does much else

SIGINT_EXIT = 130
# Other tests run beside these, and their figures need not be precise: no process pairs are added for that.
QUICK_SETTINGS = pathlib.Path(__file__).with_name("quick.toml")


@dataclass
class Ran:
    """What one run of the program came to."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        lines = self.out.splitlines()
        assert len(lines) == 1, f"not one line on stdout: {self.out!r}\n{self.err}"
        return json.loads(lines[0])

    @property
    def error_lines(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("pragma: error: ")]

    def assert_one_clear_error(self, code: int) -> str:
        """Exit code, exactly one error line, no traceback; returns the line's text."""
        assert self.code == code, f"exit {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err
        assert len(self.error_lines) == 1, self.err
        return self.error_lines[0].removeprefix("pragma: error: ")


def environment(**extra: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "PRAGMA_LOG")}
    return {"PRAGMA_SETTINGS": str(QUICK_SETTINGS), **kept, "LC_ALL": "C.UTF-8", **extra}


class Program:
    """The program in a folder of its own."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder

    def command(self, *arguments) -> list[str]:
        return [str(PRAGMA), *map(str, arguments)]

    def run(self, *arguments, code: int | None = None, **extra: str) -> Ran:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=environment(**extra),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        if code is not None:
            assert ran.code == code, f"exit {ran.code}, expected {code}\n{ran.out}\n{ran.err}"
        return ran

    def start(self, *arguments, **extra: str) -> subprocess.Popen:
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=environment(**extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="session", autouse=True)
def built():
    assert PRAGMA.exists(), f"{PRAGMA} is not built; build it first or name the folder with PRAGMA_BUILD"


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> pathlib.Path:
    """A store whose machine figures are measured once, and which knows that sanitizers pass the good kernel. All tests
    share it: what keeps runs takes `own_home`."""
    return measured_home(tmp_path_factory)


@dataclass
class Timed:
    """A timed evaluation of the good kernel: what was printed for people, the JSON object and the evidence."""

    folder: pathlib.Path

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def json(self) -> dict:
        return json.loads((self.folder / "result.json").read_text())

    @property
    def bundle(self) -> pathlib.Path:
        return self.folder / "bundle.json"


def timed_evaluation(factory: pytest.TempPathFactory, home: pathlib.Path, name: str, *more: str) -> Timed:
    def make(folder: pathlib.Path) -> None:
        files = ["--result", "result.json", "--bundle", "bundle.json", "--home", home, "--no-serve"]
        arguments = ["evaluate", TASKS / "scale.py", KERNELS / "good.cpp", *files, *more]
        (folder / "out").write_text(Program(folder).run(*arguments, code=0, COLUMNS="80").out)

    return Timed(made_once(factory, name, make))


@pytest.fixture(scope="session")
def timed(home, tmp_path_factory) -> Timed:
    """Timed against torch as it is."""
    return timed_evaluation(tmp_path_factory, home, "timed", "--no-compile-baseline")


@pytest.fixture(scope="session")
def timed_fully(home, tmp_path_factory) -> Timed:
    """Timed against torch as it is and as torch.compile makes it, and in place of the module."""
    return timed_evaluation(tmp_path_factory, home, "timed_fully", "--call")


@pytest.fixture
def program(tmp_path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def own_home(home, tmp_path) -> pathlib.Path:
    """A store of the test's own that knows the machine's figures already."""
    return copied_home(home, tmp_path / "home")


class ScriptedModel:
    """A `command:` model: replies by role and node, and a log of what was asked."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        if not folder.exists():
            folder.mkdir()
            (folder / "asked").write_text("")

    @property
    def spec(self) -> str:
        return f"command:sh {HERE / 'scripted_model.sh'} {self.folder}"

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().split()

    def reply(self, role: str, node: int, text: str) -> None:
        (self.folder / f"{role}-{node}.md").write_text(text)

    def code(self, node: int, kernel: str) -> None:
        source = (KERNELS / f"{kernel}.cpp").read_text()
        self.reply("coder", node, f"Here it is.\n\n```cpp\n{source}```\n")

    def advice(self, node: int, change: str, stop: bool = False) -> None:
        decision = {"base": "best", "bottleneck": "memory", "evidence": "scripted", "change": change, "stop": stop}
        self.reply("conductor", node, f"```json\n{json.dumps(decision)}\n```\n")

    def hang_at(self, role: str, node: int) -> pathlib.Path:
        """The reply never comes; the returned file appears once it is asked for."""
        (self.folder / f"{role}-{node}.hang").write_text("")
        return self.folder / f"{role}-{node}.hanging"

    def prompt(self, role: str, node: int) -> str:
        return (self.folder / f"{role}-{node}.prompt").read_text()

    def answer_at(self, role: str, node: int) -> None:
        (self.folder / f"{role}-{node}.hang").unlink()


def recovering_model(folder: pathlib.Path) -> ScriptedModel:
    """A compile error, then a good kernel, then a wrong one."""
    scripted = ScriptedModel(folder)
    scripted.code(1, "compile_error")
    scripted.advice(2, "spell the argument as it is declared")
    scripted.code(2, "good")
    scripted.advice(3, "subtract instead")
    scripted.code(3, "wrong")
    return scripted


@pytest.fixture
def model(tmp_path) -> ScriptedModel:
    return recovering_model(tmp_path / "model")


@dataclass
class Finished:
    """A run that has ended, in a store that the test may change."""

    ran: Ran
    home: pathlib.Path
    model: ScriptedModel

    @property
    def run(self) -> str:
        return self.ran.json["run"]


@pytest.fixture(scope="session")
def finished_once(home, tmp_path_factory) -> pathlib.Path:
    """A folder with a run of three attempts: its store, its model, and what the command printed."""

    def make(folder: pathlib.Path) -> None:
        model = recovering_model(folder / "model")
        kept = copied_home(home, folder / "home")
        budget = ["--attempts", "3", "--no-compile-baseline", "--no-call"]
        arguments = ["--strategy", "n-pragma", "--model", model.spec, *budget, "--home", kept, "--json"]
        ran = Program(folder).run("optimize", TASKS / "scale.py", *arguments, code=0)
        (folder / "ran.json").write_text(json.dumps(dataclasses.asdict(ran)))

    return made_once(tmp_path_factory, "finished", make)


@pytest.fixture
def finished(finished_once, tmp_path) -> Finished:
    """The store is the test's own. The model is shared, so a test may only add replies to attempts of its own."""
    ran = Ran(**json.loads((finished_once / "ran.json").read_text()))
    kept = copied_home(finished_once / "home", tmp_path / "finished")
    return Finished(ran, kept, ScriptedModel(finished_once / "model"))


def wait_for(path, process):
    """Until the file is there; the process must live on."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def read_golden(name: str, text: str) -> str:
    """The golden text; PRAGMA_UPDATE_GOLDEN=1 rewrites it first."""
    path = GOLDEN / name
    if os.environ.get("PRAGMA_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.read_text()
