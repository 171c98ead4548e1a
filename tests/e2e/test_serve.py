"""serve: warm references behind a local socket; evaluate with and without it."""

from __future__ import annotations

import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import subprocess

import pytest
from conftest import KERNELS, TASKS, Program
from shared import copied_home

SCALE = TASKS / "scale.py"
GOOD = KERNELS / "good.cpp"
LIMIT_SECONDS = 600


class Connection:
    """A client that speaks the protocol by hand."""

    def __init__(self, path: pathlib.Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT_SECONDS)
        folder = os.open(path.parent, os.O_PATH)  # an address holds no long path
        self.socket.connect(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.hello = self.receive()

    def send(self, text: str | bytes) -> None:
        self.socket.sendall(text if isinstance(text, bytes) else text.encode() + b"\n")

    def receive(self) -> dict:
        return json.loads(self.lines.readline())

    def evaluate(self, task: pathlib.Path = SCALE, kernel: pathlib.Path = GOOD, **options) -> None:
        request = {"task": {"path": str(task)}, "candidate": {"path": str(kernel)}, "measure": "nothing", **options}
        self.send(json.dumps({"schema": 1, "evaluate": request}))

    def answer(self) -> tuple[dict, list[str]]:
        """The last message, and what was said before it."""
        phases: list[str] = []
        while True:
            message = self.receive()
            if message["message"] in ("result", "failure", "lost"):
                return message, phases
            phases.append(message["text"])

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


class Server:
    def __init__(self, program: Program, home: pathlib.Path, *arguments):
        self.path = home / "serve.sock"
        self.process = program.start("serve", "--home", home, *arguments)
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()

    def connect(self) -> Connection:
        return Connection(self.path)

    def stop(self) -> tuple[int, str]:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=LIMIT_SECONDS)
        return self.process.returncode, out + err


def below(pid: int) -> set[int]:
    """All descendants that live."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    parents = {int(p): int(q) for p, q, state in map(str.split, listed.splitlines()) if not state.startswith("Z")}
    found = {pid}
    while more := {p for p, q in parents.items() if q in found} - found:
        found |= more
    return found - {pid}


def gone(pids: set[int]) -> bool:
    """True once none of them lives; waits for it with the system's own means."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ready, _, _ = select.select([handle], [], [], LIMIT_SECONDS)
        os.close(handle)
        if not ready:
            return False
    return True


@pytest.fixture
def server(program, own_home):
    """A server of the test's own, which may end it."""
    started = Server(program, own_home)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def warm_home(home, tmp_path_factory) -> pathlib.Path:
    return copied_home(home, tmp_path_factory.mktemp("warm") / "home")


@pytest.fixture(scope="module")
def warm(warm_home):
    """One server for all tests that leave it as it was. Its references stay warm from test to test."""
    started = Server(Program(warm_home.parent), warm_home)
    yield started
    assert started.stop()[0] == 0


def without_times(value):
    """A verdict less what is measured or drawn."""
    drop = {"seed", "phases_ms", "timing", "baseline", "speedup", "lower_bound_ms", "error", "detail", "allocator"}
    if isinstance(value, dict):
        kept = {key: without_times(item) for key, item in value.items() if key not in drop}
        if "reason" in kept:  # names elements and figures of secret sets
            kept["reason"] = re.sub(r"-?[0-9][0-9.e+-]*", "N", kept["reason"])
        return kept
    return [without_times(item) for item in value] if isinstance(value, list) else value


COMPARED = ["good", "wrong", "compile_error", "crash", "forbidden_call"]


@pytest.fixture(scope="module")
def without_server(warm, warm_home) -> dict[str, dict]:
    """The verdicts of one command, which does not use the server that is there."""
    files = [KERNELS / f"{kernel}.cpp" for kernel in COMPARED]
    arguments = ["--home", warm_home, "--no-timing", "--json", "--no-serve"]
    ran = Program(warm_home.parent).run("evaluate", SCALE, *files, *arguments, code=1)
    assert "judged by the server" not in ran.err
    return dict(zip(COMPARED, ran.json["evaluations"], strict=True))


@pytest.mark.parametrize("kernel", COMPARED)
def test_verdicts_are_the_same_as_without_the_server(program, warm, warm_home, without_server, kernel):
    arguments = ["evaluate", SCALE, KERNELS / f"{kernel}.cpp", "--home", warm_home, "--no-timing", "--json"]
    here = without_server[kernel]
    there = program.run(*arguments)
    assert "judged by the server" in there.err
    assert there.code == (0 if here["status"] == "passed" else 1)
    assert without_times(there.json) == without_times(here)
    assert list(there.json) == list(here)
    # Nothing of a first evaluation is used again.
    again = program.run(*arguments)
    assert without_times(again.json) == without_times(here)
    if here.get("seed"):
        assert len({here["seed"], there.json["seed"], again.json["seed"]}) == 3


def test_one_verdict_is_the_same_as_without_the_server(program, warm, warm_home):
    arguments = ["evaluate", SCALE, KERNELS / "wrong.cpp", "--home", warm_home, "--no-timing", "--json"]
    here, there = program.run(*arguments, "--no-serve"), program.run(*arguments)
    assert there.code == here.code == 1
    assert without_times(there.json) == without_times(here.json)
    assert list(there.json) == list(here.json)


def test_a_timed_evaluation_and_its_text(program, warm, warm_home):
    ran = program.run("evaluate", SCALE, GOOD, "--home", warm_home, "--no-compile-baseline", code=0)
    assert "judged by the server" in ran.err
    assert ran.out.startswith("passed  scale (")
    assert "torch eager" in ran.out


def test_the_second_evaluation_finds_the_reference_warm(warm, tmp_path):
    task = tmp_path / "scale.py"
    task.write_text(f"# a task that no test has used\n{SCALE.read_text()}")
    client = warm.connect()
    client.evaluate(task=task)
    first, phases = client.answer()
    assert first["object"]["status"] == "passed"
    assert "starting the reference" in phases
    client.evaluate(task=task, kernel=KERNELS / "wrong.cpp")
    second, phases = client.answer()
    assert second["object"]["status"] == "wrong_values"
    assert "build" in phases and "starting the reference" not in phases


def test_a_changed_task_is_a_new_task(warm, tmp_path):
    task = tmp_path / "mine.py"
    (tmp_path / "part.py").write_text("FACTOR = 2.0\n")
    source = SCALE.read_text()
    task.write_text("import part\n" + source)
    client = warm.connect()
    digests = []
    for change in [None, lambda: task.write_text("import part\n\n" + source), lambda: (tmp_path / "part.py").write_text("FACTOR = 3.0\n")]:
        if change is not None:
            client.evaluate(task=task)  # warm now, whenever the files were written
            client.answer()
            change()
        client.evaluate(task=task)
        message, phases = client.answer()
        assert "starting the reference" in phases
        digests.append(message["object"]["task"]["sha256"])
    assert digests[0] != digests[1] == digests[2]


def test_settings_are_part_of_the_request(program, warm, warm_home):
    arguments = ["evaluate", SCALE, GOOD, "--home", warm_home, "--no-timing", "--json"]
    for extra, threads in [(["--threads", "1"], 1), (["--mode", "official"], len(os.sched_getaffinity(0)))]:
        ran = program.run(*arguments, *extra, code=0)
        assert "judged by the server" in ran.err
        assert ran.json["environment"]["threads"] == threads


def test_the_target_is_part_of_the_request(warm, tmp_path):
    kernel = tmp_path / "kernel.cu"
    kernel.write_text("#include <cublas_v2.h>\n")
    client = warm.connect()
    client.evaluate(kernel=kernel, target="cuda")
    message, _ = client.answer()
    assert message["object"]["status"] == "rejected_source", message
    client.evaluate(kernel=kernel)
    message, _ = client.answer()
    assert "a candidate in cuda needs --target cuda" in message["failure"]["message"]


def test_bundles_come_through_the_server(program, warm, warm_home):
    ran = program.run("evaluate", SCALE, GOOD, "--home", warm_home, "--no-timing", "--bundle", "kept.json", "--json", code=0)
    assert "judged by the server" in ran.err
    sealed = json.loads((program.folder / "kept.json").read_text())
    assert sealed["sha256"] == ran.json["bundle"]


def test_a_task_given_as_text_and_repetitions(program, warm, warm_home):
    request = {
        "schema": 1,
        "task": {"name": "scale", "source": SCALE.read_text()},
        "candidate": {"language": "cpp", "files": {"kernel.cpp": GOOD.read_text()}},
        "measure": "nothing",
        "repeat": 2,
        "run_limit": "30s",
    }
    (program.folder / "request.json").write_text(json.dumps(request))
    for _ in range(2):
        ran = program.run("evaluate", "--request", "request.json", "--home", warm_home, "--json", code=0)
        assert "judged by the server" in ran.err
        assert [run["status"] for run in ran.json["runs"]] == ["passed"] * 2


def test_a_bad_task_gets_the_same_line_and_the_server_lives(program, warm, warm_home):
    arguments = ["evaluate", TASKS / "no_model.py", GOOD, "--home", warm_home, "--json"]
    here = program.run(*arguments, "--no-serve")
    for _ in range(2):
        there = program.run(*arguments)
        assert there.assert_one_clear_error(2) == here.assert_one_clear_error(2)
        assert there.json == here.json
    assert warm.process.poll() is None


def test_another_pragma_is_not_used_and_that_is_said(program, warm, home):
    ran = program.run("evaluate", SCALE, GOOD, "--home", home, "--socket", warm.path, "--no-timing", code=0)
    assert "is not used: it has another --home" in ran.err
    assert "judged by the server" not in ran.err
    ran = program.run("evaluate", SCALE, GOOD, "--home", warm.path.parent, "--no-timing", code=0, PATH="/usr/bin:/bin:/nowhere")
    assert "is not used: it has another PATH" in ran.err


def test_a_socket_that_is_named_and_missing_is_told(program, home):
    ran = program.run("evaluate", TASKS / "no_model.py", GOOD, "--home", home, "--socket", "gone.sock", "--no-timing")
    assert "no server listens on gone.sock" in ran.err
    ran.assert_one_clear_error(2)


def test_a_server_that_dies_in_the_middle_is_done_without(program, server, own_home):
    running = program.start("evaluate", SCALE, GOOD, "--home", own_home, "--no-timing", "--json")
    assert "judged by the server" in running.stderr.readline()
    children = below(server.process.pid)
    server.process.kill()
    out, err = running.communicate(timeout=LIMIT_SECONDS)
    assert running.returncode == 0, err
    assert json.loads(out)["status"] == "passed"
    assert "without the server from here on" in err
    assert gone(children)
    # What it left does not disturb the next server.
    again = Server(program, own_home)
    assert "serving on" in again.first_line
    assert again.stop()[0] == 0


def test_a_client_that_leaves_cancels_its_evaluation(server):
    client = server.connect()
    client.evaluate(kernel=KERNELS / "endless.cpp", run_limit="10m")
    while "check" not in client.receive()["text"]:
        pass
    jails = below(server.process.pid)
    assert jails
    client.close()
    other = server.connect()
    other.evaluate()
    message, _ = other.answer()  # only started once the other has ended
    assert message["object"]["status"] == "passed"
    assert gone(jails)


def test_evaluations_wait_for_each_other(warm):
    first = warm.connect()
    first.evaluate()
    first.answer()  # whatever an earlier test left running has ended
    clients = [warm.connect() for _ in range(3)]
    for client in clients:
        client.evaluate()
    answers = [client.answer() for client in clients]
    assert [message["object"]["status"] for message, _ in answers] == ["passed"] * 3
    told = [line for _, lines in answers for line in lines]  # who comes first, the server decides
    assert "waiting for 1 other evaluation" in told
    assert "waiting for 2 other evaluations" in told


@pytest.mark.parametrize(
    "text, part",
    [
        (b"\n", "not a JSON object"),
        (b"{]\n", "not a JSON object"),
        (b"\xff\xfe\x00\n", "not a JSON object"),
        (b'{"schema": 7}\n', "schema"),
        (b'{"schema": 1, "evaluate": {"candidate": {}, "tusk": 1}}\n', "did you mean 'task'?"),
        (b'{"schema": 1, "evaluate": {"candidate": {"path": "/dev/zero"}, "task": {"path": "/dev/zero"}}}\n', "/dev/zero"),
        (b'{"schema": 1, "evaluate": ' + b"[" * 1_000_000 + b"\n", "nested too deeply"),
        (b'{"schema": 1, "evaluate": "' + b"x" * (17 << 20), "longer than"),
    ],
)
def test_hostile_clients_get_one_clear_error(warm, text, part):
    client = warm.connect()
    try:
        client.send(text)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server has heard enough
    message, _ = client.answer()
    assert message["message"] == "failure"
    assert part in message["failure"]["message"]
    half = warm.connect()
    half.send(b'{"schema": 1, "eval')
    half.close()
    assert warm.connect().hello["message"] == "hello"


def test_a_second_server_is_refused(program, warm, warm_home):
    message = program.run("serve", "--home", warm_home).assert_one_clear_error(2)
    assert "another server listens" in message
    assert warm.connect().hello["message"] == "hello"


def test_only_the_owner_may_connect(warm):
    assert stat.S_IMODE(warm.path.stat().st_mode) == 0o600


def test_a_signal_ends_it_and_everything_it_started(program, own_home):
    server = Server(program, own_home, "--json")
    client = server.connect()
    client.evaluate(kernel=KERNELS / "endless.cpp", run_limit="10m")
    while "check" not in client.receive()["text"]:
        pass
    children = below(server.process.pid)
    code, text = server.stop()
    assert code == 0
    assert '"stopped":"interrupted"' in text
    assert gone(children)
    assert not server.path.exists()


def test_it_ends_when_there_is_nothing_to_do(program, own_home):
    ran = program.run("serve", "--home", own_home, "--idle", "1s", "--json", code=0)
    assert ran.json["stopped"] == "idle"
    assert not (own_home / "serve.sock").exists()


def test_few_tasks_stay_warm(program, own_home, tmp_path):
    server = Server(program, own_home, "--tasks", "1")
    other = pathlib.Path(shutil.copy(SCALE, tmp_path / "other.py"))
    client = server.connect()
    for task in [SCALE, other, SCALE]:
        client.evaluate(task=task)
        message, phases = client.answer()
        assert message["object"]["status"] == "passed"
        assert "starting the reference" in phases
    assert server.stop()[0] == 0


@pytest.mark.parametrize("arguments, part", [(["--idle", "soon"], "invalid duration"), (["--memory", "much"], "--memory"), (["--tasks", "0"], "--tasks")])
def test_wrong_values_get_one_line(program, arguments, part):
    assert part in program.run("serve", *arguments).assert_one_clear_error(2)
