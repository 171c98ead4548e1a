"""pragma knowledge: search, list, show, build."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time
import tomllib
import urllib.request

import pytest
from conftest import ROOT, read_golden

HELPERS = ROOT / "tests" / "knowledge"


@pytest.mark.parametrize("command", ["search", "list", "show", "build"])
def test_help_is_the_golden_one_and_shows_an_example(program, command):
    ran = program.run("knowledge", command, "--help", code=0)
    assert f"Example:\n  pragma knowledge {command}" in ran.out
    assert ran.out == read_golden(f"help-knowledge-{command}.txt", ran.out)


@pytest.mark.parametrize(
    "arguments, part",
    [
        ([], "A subcommand is required; see pragma knowledge --help"),
        (["serch", "x"], "unknown command 'knowledge serch'; did you mean 'search'?"),
        (["search"], "QUERY is required; see pragma knowledge search --help"),
        (["search", "x", "--kind", "gauge"], "invalid kind 'gauge': use metric, bottleneck, technique or error"),
        (["search", "x", "--target", "tpu"], "invalid target 'tpu'"),
        (["search", "x", "--embeddings", "magic"], "give openai:NAME or local:NAME"),
        (["search", " "], "the question is empty"),
        (["search", "x", "--limt", "3"], "did you mean '--limit'?"),
        (["show", "metric.vectorshare"], "there is no entry 'metric.vectorshare'; near: metric.vector_share"),
        (["build", "--from", "man:perf-stat"], "no model to read with"),
        (["build", "--from", "x", "--model", "command:true", "--out", "no/where/x.toml"], "there is no folder no/where"),
        (["build", "--from", "/no/file", "--model", "command:true"], "/no/file"),
        (["build", "--from", "man:no-such-page-xyz", "--model", "command:true"], "there is no manual page"),
    ],
)
def test_mistakes_get_one_line(program, arguments, part):
    assert part in program.run("knowledge", *arguments).assert_one_clear_error(2)


def test_search_finds_and_filters(program):
    found = program.run("knowledge", "search", "false sharing", "--json", code=0).json
    assert found["schema"] == 1 and found["query"] == "false sharing"
    assert "bottleneck.false_sharing" in [hit["id"] for hit in found["hits"][:3]]
    assert found["hits"][0]["by_words"] == 1 and found["hits"][0]["by_meaning"] is None
    only = program.run("knowledge", "search", "cache", "--kind", "error", "--limit", "3", "--json", code=0).json
    assert len(only["hits"]) <= 3 and {hit["kind"] for hit in only["hits"]} <= {"error"}
    text = program.run("knowledge", "search", "false", "sharing", code=0).out
    assert "bottleneck.false_sharing" in text and "\x1b" not in text
    assert not (program.folder / ".pragma").exists(), "a search keeps nothing"


@pytest.mark.parametrize("query", ['"', "a AND", "NEAR(", "'; DROP TABLE entry", "naïve été", "\x01", "*", "x" * 10000])
def test_any_text_is_a_question(program, query):
    assert isinstance(program.run("knowledge", "search", "--json", "--", query, code=0).json["hits"], list)


def test_nothing_found_is_said(program):
    assert program.run("knowledge", "search", "zzzzqqqq", code=0).out == "nothing found for 'zzzzqqqq'\n"


def test_list_and_show(program):
    entries = program.run("knowledge", "list", "--json", code=0).json["entries"]
    assert len(entries) >= 150
    some = program.run("knowledge", "list", "--kind", "bottleneck", "--target", "gpu", "--json", code=0).json["entries"]
    assert some and all(entry["kind"] == "bottleneck" and "gpu" in entry["targets"] for entry in some)
    shown = program.run("knowledge", "show", "technique.simd_reduction", "--json", code=0).json["entry"]
    assert shown["title"] == "SIMD reduction" and "#pragma omp simd" in shown["fragment"]
    text = program.run("knowledge", "show", "technique.simd_reduction", COLUMNS="60", code=0).out
    assert "  #pragma omp simd reduction(+ : sum)\n" in text and "sources" in text


@contextlib.contextmanager
def served(script: pathlib.Path):
    process = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.stdin.close()
        process.wait(timeout=10)


def test_search_by_meaning_keeps_vectors(program):
    with served(ROOT / "tests" / "llm" / "fault_server.py") as url:
        settings = {"OPENAI_BASE_URL": f"{url}/embed", "OPENAI_API_KEY": "k", "no_proxy": "127.0.0.1"}
        arguments = ["knowledge", "search", "page walks", "--embeddings", "openai:fake", "--json"]
        first = program.run(*arguments, code=0, **settings).json
        assert any(hit["by_meaning"] for hit in first["hits"])
        assert (program.folder / ".pragma" / "knowledge.db").exists()
    # The service is gone, and not needed for what is known.
    again = program.run(*arguments, code=0, **settings).json
    assert [hit["id"] for hit in again["hits"]] == [hit["id"] for hit in first["hits"]]


def test_a_python_without_the_library_is_told(program):
    (program.folder / "python").write_text("#!/bin/sh\nexec python3 -S -I \"$@\"\n")
    (program.folder / "python").chmod(0o755)
    ran = program.run("knowledge", "search", "x", "--embeddings", "local:small", "--python", "./python")
    assert "pip install sentence-transformers" in ran.assert_one_clear_error(3)


class Reader:
    """The scripted model and what it was asked."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir()
        self.spec = f"command:{sys.executable} {HELPERS / 'scripted_reader.py'} {folder}"

    @property
    def spec_keeping_prompts(self) -> str:
        return f"command:tee {self.folder}/prompt-$PRAGMA_NODE | {self.spec.removeprefix('command:')}"

    @property
    def asked(self) -> list[str]:
        log = self.folder / "asked"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def reader(tmp_path) -> Reader:
    return Reader(tmp_path / "reader")


def document(markers: list[str]) -> str:
    return "\n\n".join(f"PART {marker.upper()}\n    marker-{marker}\n    {'word ' * 120}" for marker in markers) + "\n"


def test_build_writes_entries_and_reports_conflicts(program, reader):
    (program.folder / "a.txt").write_text(document(["alpha", "beta"]))
    (program.folder / "b.html").write_text("<!doctype html><p>marker-alpha is elsewhere, too")
    ran = program.run(
        "knowledge", "build", "--from", "a.txt", "--from", "b.html", "--model", reader.spec, "--segment-bytes", "800", "--json", code=0
    )
    report = ran.json
    assert (report["segments"], report["asked"], report["cached"]) == (3, 4, 0)
    assert (report["entries"], report["merged"]) == (2, 1)
    assert report["conflicts"] == [
        {
            "entry": "metric.alpha",
            "about": "the default",
            "claims": [{"source": "a.txt", "says": "0"}, {"source": "b.html", "says": "1"}],
        }
    ]
    built = tomllib.loads((program.folder / "knowledge-built.toml").read_text())["entry"]
    assert {entry["id"]: entry["sources"] for entry in built} == {"metric.alpha": ["a.txt", "b.html"], "metric.beta": ["a.txt"]}
    again = program.run("knowledge", "build", "--from", "a.txt", "--from", "b.html", "--model", reader.spec, "--segment-bytes", "800", code=0)
    assert len(reader.asked) == 4, "everything was kept"
    assert "Sources disagree" in again.out and "0 asked for, 4 kept from before" in again.out


def test_a_killed_build_goes_on_where_it_was(program, reader):
    (program.folder / "a.txt").write_text(document(["one", "two", "three", "four"]))
    (reader.folder / "stop").write_text("3")
    arguments = ["knowledge", "build", "--from", "a.txt", "--model", reader.spec, "--segment-bytes", "800", "--json"]
    process = program.start(*arguments)
    deadline = time.monotonic() + 120
    while not (reader.folder / "stopped").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()
    (reader.folder / "stop").unlink()
    report = program.run(*arguments, code=0).json
    assert (report["cached"], report["asked"], report["entries"]) == (2, 2, 4)
    assert reader.asked == [f"knowledge_segment {n} 0" for n in (1, 2, 3, 3, 4)]


def test_build_follows_a_documentation_section(program, reader):
    with served(HELPERS / "doc_server.py") as url:
        arguments = ["knowledge", "build", "--from", f"{url}/docs/", "--pause", "0s", "--model", reader.spec, "--json"]
        report = program.run(*arguments, code=0, no_proxy="127.0.0.1").json
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        log = opener.open(f"{url}/log").read().decode().splitlines()
    assert report["documents"] == 6
    assert any("404" in note for note in report["notes"])
    assert "/other/away.html" not in log and "/docs/private/secret.html" not in log


@pytest.mark.parametrize(
    "page, packages, words",
    [
        ("perf-stat", "linux-perf", "--repeat"),
        ("perf_event_open(2)", "manpages-dev", "PERF_COUNT_HW_CACHE_MISSES"),
        ("valgrind", "valgrind", "--tool"),
        ("llvm-mca", "llvm", "dispatch"),
    ],
)
def test_real_manual_pages_are_read_whole(program, reader, page, packages, words):
    found = subprocess.run(["man", "-w", *reversed(page.rstrip(")").split("("))], capture_output=True)
    if found.returncode != 0:
        pytest.skip(f"no manual page {page} (Debian: {packages})")
    arguments = ["knowledge", "build", "--from", f"man:{page}", "--model", reader.spec_keeping_prompts, "--json"]
    report = program.run(*arguments, code=0).json
    assert report["segments"] == report["asked"] >= 3
    prompts = [path.read_text() for path in sorted(reader.folder.glob("prompt-*"))]
    assert len(prompts) == report["segments"] and any(words in prompt for prompt in prompts)
    assert all(f"From man:{page}" in prompt and "\b" not in prompt and "\x1b" not in prompt for prompt in prompts)


ANSWER = (
    '```json\n{"entries": [{"id": "metric.alpha", "title": "A", "targets": ["cpu"], "aliases": [], "summary": "s", "when": "w", '
    '"how": "h", "traps": "t", "effect": "e", "classes": [], "related": []}]}\n```\n'
)


def test_a_person_may_be_the_model(program):
    (program.folder / "a.txt").write_text("marker-alpha\n")
    process = program.start("knowledge", "build", "--from", "a.txt", "--model", "handoff:desk", "--json")
    prompt = program.folder / "desk" / "0001-knowledge_segment.prompt.md"
    deadline = time.monotonic() + 120
    while not prompt.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    assert "marker-alpha" in prompt.read_text()
    (program.folder / "reply.tmp").write_text(ANSWER)
    (program.folder / "reply.tmp").rename(prompt.with_name("0001-knowledge_segment.reply.md"))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["entries"] == 1


def test_a_recording_may_be_the_model(program):
    (program.folder / "a.txt").write_text("marker-alpha\n")
    call = {"kind": "call", "role": "knowledge_segment", "node": 1, "ordinal": 0, "completion": {"text": ANSWER}}
    (program.folder / "calls.jsonl").write_text(json.dumps(call) + "\n")
    report = program.run("knowledge", "build", "--from", "a.txt", "--model", "replay:calls.jsonl", "--json", code=0).json
    assert (report["asked"], report["entries"]) == (1, 1)
