"""Text that models, compilers and kernels wrote must stay text, wherever it is shown."""

import json
import shutil
import sqlite3

import pytest
import report_browser
from report_browser import RECORDINGS

PAYLOADS = [
    "</script><script>window.hacked = 1</script>",
    "<!--<script>window.hacked = 1",
    "<img src=x onerror=\"window.hacked = 1\">",
    "<svg onload='window.hacked = 1'><a href='javascript:window.hacked = 1'>x</a>",
    "javascript:window.hacked=1",
    "'\"`${window.hacked = 1}{{title}}{{{data}}}\u2028\u2029\u0000\u0007@1,2,3",
    "@0,1",
    "__proto__",
    "x" * 400_000,
]
ALL = " ".join(PAYLOADS[:-1])
# Names that the program itself chooses and checks when it reads them.
FIXED = {"verdict", "status", "role", "base", "language", "compiler"}


def hostile(value, name=""):
    """The same JSON with every free text replaced."""
    if isinstance(value, dict):
        return {key: hostile(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item, name) for item in value]
    return ALL if isinstance(value, str) and name not in FIXED else value


@pytest.fixture(scope="module")
def hostile_home(tmp_path_factory):
    """A run whose kernels, prompts, replies, advice, logs, names and settings are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    text = (RECORDINGS / "08_matmul_lower_triangular.pragma.2.jsonl").read_text(encoding="utf-8")
    include = json.dumps('#include "kernel.h"')[1:-1]
    assert include in text
    comment = json.dumps(" // " + ALL.replace("\u0000", "").replace("`", ""))[1:-1]
    (folder / "hostile.jsonl").write_text(text.replace(include, include + comment), encoding="utf-8")
    home = folder / "home"
    run = report_browser.replayed(folder / "hostile.jsonl", home)
    with sqlite3.connect(home / "pragma.db") as database:
        for node, trial in database.execute("SELECT node, json FROM trial").fetchall():
            changed = hostile(json.loads(trial))
            if node == 2:
                changed["evaluation"]["log"] = PAYLOADS[-1]
                changed["advice"]["change"] = PAYLOADS[-1]
            database.execute("UPDATE trial SET json = ? WHERE node = ?", (json.dumps(changed), node))
        for number, completion in database.execute("SELECT number, completion_json FROM call").fetchall():
            database.execute(
                "UPDATE call SET model = ?, role = role || ?, completion_json = ?, prompt_json = ? WHERE number = ?",
                (ALL, PAYLOADS[2], json.dumps({**json.loads(completion), "text": ALL, "reasoning": ALL}),
                 json.dumps([{"role": ALL, "text": ALL}, {"role": 3, "text": None}, ALL]), number))
        settings = json.loads(database.execute("SELECT settings_json FROM run").fetchone()[0])
        settings = {**settings, "options": {ALL: ALL}, "models": {ALL: ALL}, "machine": ALL,
                    "preset": {"name": ALL, "summary": ALL}, "metric_meanings": {"time_ms": ALL}}
        database.execute("UPDATE run SET task_name = CAST(? AS TEXT), strategy = ?, stopped = ?, settings_json = ?",
                         (b"\xff\xfe" + ALL.replace("\u0000", "").encode(), ALL, ALL, json.dumps(settings)))
    return home, run


def assert_inert(browser):
    """Nothing ran, and nothing became an element that could."""
    assert browser.js("window.hacked") is None
    assert browser.count("img, iframe, object, embed, link, base, form, main script, main style") == 0
    assert browser.js("[...document.querySelectorAll('*')].filter(e => [...e.attributes].some("
                      "a => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value) && a.name === 'href')).length") == 0
    assert browser.js("[...document.querySelectorAll('a')].every(a => a.getAttribute('href').startsWith('#'))")
    browser.assert_quiet()


@pytest.mark.parametrize("full", [False, True])
def test_run_page_shows_hostile_text_as_text(browser, hostile_home, tmp_path, full):
    home, run = hostile_home
    page = tmp_path / "run.html"
    report_browser.program("report", run, "--home", home, "--html", page, *(["--full"] if full else []))
    browser.open(page)
    nodes = browser.count(".tree .node") - 1
    for node in range(1, nodes + 1):
        browser.select(node)
        browser.unfold_everything()
        for payload in PAYLOADS[:5]:
            assert payload in browser.text(".panel")
        assert_inert(browser)
    assert PAYLOADS[0] in browser.text("h1")
    assert "\ufffd" in browser.text("h1")  # what was no UTF-8
    assert PAYLOADS[0] in browser.js("document.title")
    assert PAYLOADS[0] in browser.text("#settings")


def test_hostile_text_fits_a_phone(browser, hostile_home, tmp_path):
    home, run = hostile_home
    report_browser.program("report", run, "--home", home, "--html", tmp_path / "run.html")
    browser.open(tmp_path / "run.html", width=390, height=844)
    browser.select(2)
    browser.unfold_everything()
    browser.assert_fits()
    assert_inert(browser)


def test_bench_page_shows_hostile_text_as_text(browser, tmp_path):
    row = {"task": ALL, "group": ALL, "category": ALL, "lint": ALL, "strategy": ALL, "model": ALL,
           "repeat": 1, "run": ALL, "attempts": 1, "stopped": ALL, "problem": ALL, "passed": True,
           "spent": {"seconds": 1.0, "tokens": 1, "usd": 0.0}, "curve": [],
           "best": {"speedup": {"eager": {"median": 2.0, "ci95": [1.0, 3.0]}}}}
    other = {**row, "strategy": "__proto__", "category": "constructor", "model": "toString"}
    (tmp_path / "a&b'<b>.json").write_text(json.dumps({"tasks": [row, other]}), encoding="utf-8")
    report_browser.program("report", tmp_path / "a&b'<b>.json", "--html", tmp_path / "bench.html",
                           "--home", tmp_path / "none")
    browser.open(tmp_path / "bench.html")
    for payload in PAYLOADS[:5]:
        assert payload in browser.text("#tasks")
    assert "a&b'<b>" in browser.text("h1")
    assert_inert(browser)


def test_policy_stops_a_script_that_got_in_all_the_same(browser, run_page, tmp_path):
    """The second line of defence: were markup ever written from data, the browser refuses it."""
    page = tmp_path / "broken.html"
    shutil.copy(run_page[0], page)
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</main>", "</main><script>window.hacked = 1</script>"
                                 "<img src=x onerror='window.hacked = 1'>", 1), encoding="utf-8")
    browser.open(page)
    assert browser.js("window.hacked") is None
    refused = browser.complaints()
    assert len(refused) >= 2 and all("Content Security Policy" in line for line in refused)
    browser.driver.get("about:blank")  # what it refused to load is on the list of what was loaded
