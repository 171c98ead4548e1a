"""Reports of real, replayed runs, opened in a real browser."""

import json

import pytest

pytest.register_assert_rewrite("report_browser")
import report_browser  # noqa: E402
from report_browser import RECORDINGS  # noqa: E402


@pytest.fixture(scope="session")
def browser():
    opened = report_browser.Browser()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def quiet_console(request):
    """Whatever a test looks at: its page must not complain, nor load anything."""
    yield
    if "browser" in request.fixturenames:
        request.getfixturevalue("browser").assert_quiet()


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A store with two replayed runs: (home, run with profiles, run without)."""
    home = tmp_path_factory.mktemp("store") / "home"
    with_profiles = report_browser.replayed(
        RECORDINGS / "08_matmul_lower_triangular.pragma.2.jsonl", home)
    without = report_browser.replayed(RECORDINGS / "35_conv1d.n-pragma.1.jsonl", home)
    return home, with_profiles, without


@pytest.fixture(scope="session")
def run_page(store, tmp_path_factory):
    """(page, what `pragma show --json` says of the run)."""
    home, run, _ = store
    page = tmp_path_factory.mktemp("page") / "run.html"
    report_browser.program("report", run, "--home", home, "--html", page)
    return page, report_browser.show(run, home)


@pytest.fixture(scope="session")
def bench_page(store, tmp_path_factory):
    """A comparison of two strategies over four tasks, one of them degenerate, one unsolved."""
    folder = tmp_path_factory.mktemp("bench")
    rows = []
    speedups = {"fast": [3.0, 2.0, 1.2, None], "slow": [1.5, 0.8, None, None]}
    tasks = [("one", "matmul", "sound"), ("two", "matmul", "sound"), ("three", "activation", "degenerate"), ("four", "activation", "sound")]
    for strategy, figures in speedups.items():
        for (task, category, lint), figure in zip(tasks, figures):
            ratio = figure and {"median": figure, "ci95": [figure * 0.9, figure * 1.1]}
            rows.append({"task": task, "group": "suite", "category": category, "lint": lint,
                         "strategy": strategy, "model": "m", "repeat": 1, "run": "", "attempts": 2,
                         "stopped": "budget", "problem": "", "passed": figure is not None,
                         "spent": {"seconds": 10.0, "tokens": 100, "usd": 0.5},
                         "best": figure and {"speedup": {"eager": ratio, "compile": ratio}},
                         "curve": [{"attempt": 1, "tokens": 50, "best": None},
                                   {"attempt": 2, "tokens": 100, "best": figure}]})
    file = folder / "comparison.json"
    file.write_text(json.dumps({"schema": 1, "strategies": {}, "tasks": rows, "interrupted": False}))
    page = folder / "bench.html"
    report_browser.program("report", file, "--home", store[0], "--html", page)
    return page
