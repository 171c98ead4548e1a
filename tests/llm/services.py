"""Drives the real program against tests/llm/odd_service.py, one run for each behaviour of a service.

    .venv/bin/python tests/llm/services.py [NAME...] [--write] [--record FILE]

prints what each run ended with; --write writes docs/results/services.md, --record a recording of a streamed run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from odd_service import TOKENS_IN, TOKENS_OUT, Service  # noqa: E402

PRAGMA = pathlib.Path(os.environ.get("PRAGMA_BUILD", ROOT / "build")).resolve() / "pragma"
TASK = ROOT / "tests" / "e2e" / "tasks" / "scale.py"
PAGE = ROOT / "docs" / "results" / "services.md"
ONCE = ["--attempts", "1"]
LONGEST = 90  # seconds of --time, for a case that has a time
KEY = "sk-test-0123456789"


@dataclass
class Case:
    """A behaviour, and what the run must end with."""

    name: str  # an on_… method of the service
    what: str
    requests: int  # how many the service got, at most
    code: int = 0
    says: str = ""  # a part of the one error line
    protocol: str = "openai"
    flags: list[str] = field(default_factory=lambda: list(ONCE))
    settings: str = ""  # lines of [models.fake]
    notes: str = ""  # a part of what is logged besides
    strategy: str = "sampling"
    retries: int = 6
    fewest: int | None = None  # how many it got at least, where that hangs on the time; without: all of `requests`
    within: int = 0  # seconds of --time

    @property
    def id(self) -> str:
        return f"{self.name}-{self.protocol}"

    @property
    def in_turn(self) -> bool:
        """Whether it is one request, nothing is set for it, and a kernel passes: such cases can share a run."""
        found = (self.code, self.requests, self.flags, self.settings, self.strategy, self.within)
        return found == (0, 1, ONCE, "", "sampling", 0)


THREE = ["--attempts", "6"]
CASES = [
    Case("plain", "streams", 1),
    Case("plain", "streams", 1, protocol="anthropic"),
    Case("plain", "streams", 1, protocol="responses"),
    Case("plain", "`stream = false` in pragma.toml", 1, settings="stream = false"),
    Case("never_streams", "answers in one piece although a stream is asked for", 1),
    Case("refuses_streams", "refuses `stream`", 3, notes="it does not stream", flags=["--attempts", "2"]),
    Case("refuses_streams", "refuses `stream`", 2, protocol="anthropic"),
    Case("only_streams", "only streams, with `stream = false` in pragma.toml", 2, settings="stream = false", notes="it only streams"),
    Case("streams_break", "breaks each stream off, but answers in one piece", 3, notes="its streams break off"),
    Case("stays_open", "leaves the connection open behind the stream", 1),
    Case("slow_stream", "streams for longer than `timeout = 2`", 1, settings="timeout = 2"),
    Case("fails_midway", "reports an error in the middle of a stream, once", 2),
    Case("stalls", "stalls in the middle of a stream, with `--time 6s`", 1, 1, "when the time was up", within=6),
    Case("stalls_unstreamed", "stalls in the middle of a body, with `--time 6s`", 1, 1, "when the time was up", within=6),
    Case("stalls", "stalls in each stream, with `idle = 1`", 4, 3, "said nothing for 1.00 s in the middle of its reply", settings="idle = 1"),
    Case("silent", "accepts the request and says nothing, with `--time 6s`", 1, 1, "when the time was up", within=6),
    Case("refuses_one_by_one", "refuses max_tokens, stream_options, temperature, top_p and reasoning_effort, one after the other", 7, settings='top_p = 0.9\nreasoning_effort = "high"', flags=["--attempts", "2"], notes="it takes no temperature"),
    Case("refuses_one_by_one", "refuses max_tokens, temperature and top_p, one after the other", 4, settings="top_p = 0.9", protocol="anthropic"),
    Case("short_replies_only", "allows 4,096 tokens in a reply", 2, notes="replies have at most 4096 tokens"),
    Case("refuses_for_another_reason", "a 400 about something else that names temperature", 2, 2, "the temperature sensor of the machine room is offline"),
    Case("refuses_the_key", "refuses the key", 1, 2, "refused the key (401)"),
    Case("no_quota", "no quota is left", 1, 3, "exceeded your current quota"),
    Case("busy_once", "429 once, with Retry-After", 2),
    Case("always_busy", "429 for ever, with `--time 6s`", 7, 1, "the time is up before the next try", within=6, fewest=1),
    Case("busy_at_once", "429 for ever, with `Retry-After: 0`", 7, 3, "gave up after 7 tries"),
    Case("small_window", "prompt and reply share a window of 8,192 tokens", 2, notes="prompt and reply share its context"),
    Case("long_prompt", "the prompt is too long at any length", 2, 3, "as short as it can be"),
    Case("long_prompt_later", "later prompts are too long, until they are cut", 6, flags=["--attempts", "2"], strategy="reflexion", notes="cut to"),
    Case("code_in_reasoning", "empty content, the kernel in reasoning_content", 1, notes="the last code of the reasoning is taken"),
    Case("code_in_reasoning", "no text, the kernel in a thinking block", 1, protocol="anthropic", notes="the last code of the reasoning is taken"),
    Case("only_reasoning", "empty content, all tokens in reasoning_content, always", 3, 3, "its whole length went into reasoning", flags=THREE),
    Case("only_reasoning", "no text, all tokens in reasoning, always", 3, 3, "its whole length went into reasoning", flags=THREE, protocol="responses"),
    Case("empty", "empty content, always", 3, 3, "the reply is empty (stop)", flags=THREE),
    Case("tool_call", "calls a tool instead of answering, always", 3, 3, "the reply calls a tool (write_file) and has no text", flags=THREE),
    Case("code_in_tool_call", "the kernel in the arguments of a tool", 1),
    Case("code_in_tool_call", "the kernel in the arguments of a tool", 1, protocol="anthropic"),
    Case("code_in_tool_call", "the kernel in the arguments of a tool", 1, protocol="responses"),
    Case("prose", "prose without code, always", 6, 3, "3 attempts in a row ended without code", flags=THREE),
    Case("thinking_unclosed", "`<think>` never closed, then the kernel", 1, notes="the last code of the reasoning is taken"),
    Case("tag_in_code", "`</think>` in a comment of the kernel", 1),
    Case("several_blocks", "a draft, the kernel, then a block that uses it", 1),
    Case("split_in_function", "the kernel cut into two blocks in the middle of a function", 1, notes="split over several blocks"),
    Case("split_between_functions", "the kernel in two blocks: includes, then the function", 1, notes="split over several blocks"),
    Case("no_opening_fence", "the opening fence is missing", 1),
    Case("no_fences", "no fences, prose around the code", 1),
    Case("fence_in_code", "three backticks in a raw string of the kernel", 1, notes="a fence inside the code"),
    Case("code_tags", "`<code>` and `</code>` in place of fences", 1),
    Case("caches", "reads most of later prompts from its cache", 3, flags=["--attempts", "3"], settings="usd_per_million_in = 10.0\nusd_per_million_out = 10.0\nusd_per_million_cached = 1.0"),
    Case("caches", "`cache_control`: writes once, then reads", 3, flags=["--attempts", "3"], settings="usd_per_million_in = 10.0\nusd_per_million_out = 10.0\nusd_per_million_cached = 1.0\nusd_per_million_written = 12.5", protocol="anthropic"),
]


@dataclass
class Outcome:
    case: Case
    code: int
    json: dict[str, Any]
    err: str
    requests: list[tuple[str, dict[str, Any], dict[str, str]]]
    seconds: float

    @property
    def error_lines(self) -> list[str]:
        return [line.removeprefix("pragma: error: ") for line in self.err.splitlines() if line.startswith("pragma: error: ")]

    @property
    def spent(self) -> dict[str, Any]:
        return self.json.get("spent", {})

    @property
    def ended(self) -> str:
        if self.error_lines:
            return self.error_lines[0]
        best = self.json.get("best") or {}
        return "a kernel that passed" if best.get("status") == "passed" else "no kernel"


def sharing_runs() -> list[list[Case]]:
    """The cases that can share a run, by protocol."""
    return [
        [case for case in CASES if case.in_turn and case.protocol == protocol]
        for protocol in ("openai", "anthropic", "responses")
    ]


def one_run(cases: list[Case]) -> Case:
    """A run whose attempts meet these cases one after the other."""
    name = "+".join(case.name for case in cases)
    flags = ["--attempts", str(len(cases))]
    return dataclasses.replace(cases[0], name=name, requests=len(cases), flags=flags, notes="")


def settings_text(case: Case) -> str:
    return f'interval_width = 1000000\n[models.fake]\nmax_retries = {case.retries}\n{case.settings}\n'


def drive(case: Case, service: Service, folder: pathlib.Path, home: pathlib.Path, **more: str) -> Outcome:
    """One run of the program in the folder. Where PyTorch starts so slowly that the time is up before the service is
    asked, the run says nothing about the service: it is done again with twice the time."""
    within = case.within
    outcome = run_once(case, within, service, folder, home, more)
    while within and within < LONGEST and not outcome.requests:
        within *= 2
        outcome = run_once(case, within, service, folder, home, more)
    return outcome


def run_once(case: Case, within: int, service: Service, folder: pathlib.Path, home: pathlib.Path, more: dict[str, str]) -> Outcome:
    (folder / "pragma.toml").write_text(settings_text(case))
    url = service.url(case.name)
    trust = ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and k not in trust}
    environment = kept | {"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": url, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    flags = ["--no-compile-baseline", "--no-call", "--no-lint", "--no-seeds", "--strategy", case.strategy, "--home", str(home), "--json"]
    before = len(service.requests)
    start = time.monotonic()
    done = subprocess.run(
        [str(PRAGMA), "optimize", str(TASK), "--model", f"{case.protocol}:fake", *case.flags, *(["--time", f"{within}s"] if within else []), *flags],
        cwd=folder,
        env=environment | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    seconds = time.monotonic() - start
    printed = json.loads(done.stdout) if done.stdout.strip() else {}
    return Outcome(case, done.returncode, printed, done.stderr, service.requests[before:], seconds)


def check(outcome: Outcome) -> None:
    """What every run must hold to, and what its case says."""
    case = outcome.case
    told = f"exit {outcome.code}\n{outcome.json}\n{outcome.err}"
    assert outcome.code == case.code, told
    assert (case.fewest or case.requests) <= len(outcome.requests) <= case.requests, f"{len(outcome.requests)} requests\n{told}"
    assert "Traceback" not in outcome.err and KEY not in outcome.err, told
    assert len(outcome.error_lines) == (1 if case.says else 0), told
    assert case.says in "".join(outcome.error_lines), told
    assert case.notes in outcome.err, told
    if case.code == 0:
        assert outcome.json["best"]["status"] == "passed", told


def row(outcome: Outcome) -> str:
    case = outcome.case
    spent = outcome.spent
    tokens = "-" if not spent.get("tokens") else f"{spent['tokens']:,}"
    cached = f", {spent['tokens_cached']:,} cached, ${spent['usd_saved']:.4f} of ${spent['usd'] + spent['usd_saved']:.4f} saved" if spent.get("tokens_cached") else ""
    ended = outcome.ended.replace("|", "\\|").replace(f"127.0.0.1:{'0'}", "")
    return f"| {case.what} | {case.protocol} | {ended} | {outcome.code} | {len(outcome.requests)} | {tokens}{cached} |"


def page(outcomes: list[Outcome], port: int) -> str:
    rows = "\n".join(row(outcome) for outcome in outcomes).replace(f":{port}", "")
    return f"""# What a run ends with, by the behaviour of its service

Written by `.venv/bin/python tests/llm/services.py --write`. Each row is one run of the real `pragma optimize` against
tests/llm/odd_service.py, a local process that behaves oddly on purpose. **It is a script: no language model is behind
it.** Its replies hold the kernel of tests/e2e/kernels/good.cpp, and it reports {TOKENS_IN:,} tokens for each prompt and
{TOKENS_OUT} for each reply. A stream that is cut off reports none, and neither does one without `stream_options`:
its tokens are estimated. What the program builds, checks and times is real.
`tests/e2e/test_services.py` checks the same rows with the tests, some of them as attempts of one run. recordings/streamed_service.jsonl is a run of three
attempts with the streams of the same script (`tests/llm/services.py --record FILE`); `pragma replay` of it grows the
same tree.

"Requests" counts all that the service got, those that it refused too. "Exit" is the program's exit code: 0 a kernel
passed, 1 none did, 2 the request cannot work, 3 the service cannot be used.

| the service | protocol | the run ends with | exit | requests | tokens |
|---|---|---|---|---|---|
{rows}
"""


def record(file: pathlib.Path) -> None:
    """Records a run of three attempts whose replies arrived as streams."""
    service = Service()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder) / "home"
        case = Case("plain", "streams", 3, flags=["--attempts", "3"])
        check(drive(case, service, pathlib.Path(folder), home))
        assert all(body["stream"] is True for _, body, _ in service.requests)
        subprocess.run([str(PRAGMA), "export", "last", "--recording", str(file), "--home", str(home)], check=True)
    service.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="behaviours; without any: all of them")
    parser.add_argument("--write", action="store_true", help="write docs/results/services.md")
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="write a recording of a streamed run and stop")
    options = parser.parse_args()
    if options.record:
        record(options.record.resolve())
        return
    chosen = [case for case in CASES if not options.names or case.name in options.names]
    outcomes = []
    wrong = 0
    service = Service()
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            outcome = drive(case, service, pathlib.Path(folder), pathlib.Path(folder) / "home")
            outcomes.append(outcome)
            try:
                check(outcome)
                verdict = "as expected"
            except AssertionError as error:
                wrong += 1
                verdict = f"NOT AS EXPECTED: {error}"
            print(f"{case.id}: {outcome.seconds:.1f} s, {len(outcome.requests)} requests, {outcome.ended}; {verdict}", flush=True)
    port = int(service.server_address[1])
    service.close()
    if options.write:
        assert wrong == 0, "the page is written only if every row is as expected"
        PAGE.write_text(page(outcomes, port))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
