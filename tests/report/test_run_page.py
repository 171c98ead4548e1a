"""The page of a run, as a reader uses it."""

import json

import pytest
import report_browser
from selenium.webdriver.common.keys import Keys


def test_says_at_the_top_what_came_out(browser, run_page):
    page, run = run_page
    browser.open(page)
    speedup = run["final"]["speedup"]["eager"]["median"]
    assert browser.text(".stat.main b").startswith(f"{speedup:.2f}×")
    assert f"attempt {run['best']}" in browser.text(".stat.main span")
    assert browser.text("h1") == run["task"]
    assert "strategy pragma" in browser.text(".head")


def test_tree_and_table_hold_every_attempt(browser, run_page):
    page, run = run_page
    browser.open(page)
    assert browser.count(".tree .node") == len(run["trials"]) + 1
    assert browser.count("#attempts tbody tr") == len(run["trials"])
    assert browser.count("#attempts tr.best") == 1


def test_clicking_an_attempt_shows_everything_about_it(browser, run_page):
    page, run = run_page
    browser.open(page)
    trial = next(t for t in run["trials"] if t["advice"] and t["profile"]["diagnosis"])
    browser.select(trial["node"])
    panel = browser.text(".panel")
    assert trial["advice"]["change"] in panel
    assert trial["author"] in panel
    assert trial["profile"]["diagnosis"][0]["action"] in panel
    for title in ("Timing", "Checks", "Difference to attempt", "Source", "Metrics", "Spent"):
        assert title in panel
    browser.unfold_everything()
    assert trial["candidate"]["files"]["kernel.cpp"] in browser.all_texts(".panel pre")
    assert all(check["detail"] in browser.text(".panel") for check in trial["evaluation"]["checks"])


def test_what_a_planner_marked_is_shown_and_whether_the_coder_kept_to_it(browser, tmp_path):
    home = tmp_path / "home"
    run = report_browser.replayed(report_browser.ROOT / "recordings" / "strategies" / "40_conv2d_depthwise.stark.jsonl", home)
    report_browser.program("report", run, "--home", home, "--html", tmp_path / "marked.html")
    browser.open(tmp_path / "marked.html")
    trials = report_browser.show(run, home)["trials"]
    marked = next(t for t in trials if t["edit"] and t["edit"]["inside"])
    browser.select(marked["node"])
    browser.unfold_everything()
    assert "inside the marked block" in browser.text(".panel")
    assert marked["advice"]["anchored"] in browser.all_texts(".panel pre")


def test_difference_to_the_parent_gives_the_source_back(browser, run_page):
    page, run = run_page
    browser.open(page)
    child = run["trials"][2]
    parent = run["trials"][child["parent"] - 1]
    browser.select(child["node"])
    browser.unfold_everything()
    before = parent["candidate"]["files"]["kernel.cpp"].split("\n")
    after = child["candidate"]["files"]["kernel.cpp"].split("\n")
    added = [line.removeprefix("+ ") for line in browser.all_texts(".diff .added")]
    removed = [line.removeprefix("− ") for line in browser.all_texts(".diff .removed")]
    assert added and removed
    assert len(after) - len(before) == len(added) - len(removed)
    assert set(added) <= set(after) and set(removed) <= set(before)


def test_keyboard_walks_the_tree(browser, run_page):
    page, run = run_page
    browser.open(page)
    assert browser.js("document.querySelector('.tree').tabIndex") == 0
    browser.press(".tree", Keys.HOME)
    assert browser.js("document.querySelector('.tree').getAttribute('aria-activedescendant')") == "node-0"
    assert "import torch" in browser.text(".panel")
    browser.press(".tree", Keys.ARROW_RIGHT)
    browser.wait("document.querySelector('.panel').dataset.shown === '1'")
    assert browser.count("#node-1[aria-selected=true]") == 1
    browser.press(".tree", Keys.END)
    browser.wait(f"document.querySelector('.panel').dataset.shown === '{run['best']}'")


def test_curve_can_be_drawn_against_tokens(browser, run_page):
    page, _ = run_page
    browser.open(page)
    assert "attempts" in browser.all_texts("#progress svg text")
    browser.click("#progress .choice button:nth-child(2)")
    assert "tokens spent" in browser.all_texts("#progress svg text")
    assert browser.count("#progress .choice button[aria-pressed=true]") == 1


def test_attempts_are_counted_in_whole_numbers(browser, tmp_path):
    run = report_browser.replayed(report_browser.ROOT / "recordings" / "first-hop" / "17_layernorm.module.jsonl", tmp_path / "home")
    report_browser.program("report", run, "--home", tmp_path / "home", "--html", tmp_path / "short.html")
    browser.open(tmp_path / "short.html")
    counts = browser.all_texts("#progress svg .axis:not(.axis ~ .axis) text")
    assert counts and all(count.isdigit() for count in counts), counts


def test_roofline_and_profiles_come_from_the_profiles(browser, run_page):
    page, run = run_page
    browser.open(page)
    assert any("GFLOP/s" in text for text in browser.all_texts("#roofline svg text"))
    browser.unfold_everything()
    tags = {metric["tag"] for metric in run["trials"][run["best"] - 1]["profile"]["metrics"]}
    assert tags <= set(browser.all_texts("#profile tbody td:first-child"))


def test_without_profiles_the_page_says_so(browser, store, tmp_path):
    home, _, run = store
    report_browser.program("report", run, "--home", home, "--html", tmp_path / "run.html")
    browser.open(tmp_path / "run.html")
    assert "No roofline" in browser.text("#roofline")
    assert "No attempt has a profile" in browser.text("#profile")


def test_prompts_of_the_best_path_are_there_and_others_with_full(browser, store, run_page, tmp_path):
    home, run, _ = store
    page, shown = run_page
    off_path = shown["trials"][-1]["node"]
    assert off_path != shown["best"]
    browser.open(page)
    browser.select(shown["best"])
    browser.unfold_everything()
    assert "reply (" in browser.text(".panel")
    browser.select(off_path)
    assert "left out of this page" in browser.text(".panel")
    report_browser.program("report", run, "--home", home, "--html", tmp_path / "full.html", "--full")
    browser.open(tmp_path / "full.html")
    browser.select(off_path)
    assert "left out of this page" not in browser.text(".panel")
    assert "reply (" in browser.text(".panel")


def test_table_of_attempts_sorts_and_selects(browser, run_page):
    page, run = run_page
    browser.open(page)
    heading = "#attempts th:nth-child(5)"
    browser.click(heading + " button")
    browser.click(heading + " button")  # falling
    fastest = max((t for t in run["trials"] if t["evaluation"]["status"] == "passed"),
                  key=lambda t: t["evaluation"]["speedup"]["eager"]["median"])
    assert browser.js("document.querySelector('#attempts tbody tr').dataset.node") == str(fastest["node"])
    browser.click("#attempts tbody tr td")
    browser.wait(f"document.querySelector('.panel').dataset.shown === '{fastest['node']}'")


@pytest.mark.parametrize("dark", [False, True])
def test_follows_the_system_theme_and_can_be_switched(browser, run_page, dark):
    page, _ = run_page
    browser.open(page, dark=dark)
    lightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert (browser.js(lightness) < 128) == dark
    browser.click("#theme")
    assert (browser.js(lightness) < 128) != dark


def test_fits_a_phone(browser, run_page):
    page, run = run_page
    browser.open(page, width=390, height=844)
    browser.assert_fits()
    browser.select(run["best"])
    browser.unfold_everything()
    browser.assert_fits()


def test_long_run_draws_and_unpacks(browser, tmp_path):
    report_browser.program(tmp_path / "home", report_browser.RECORDINGS / "32_argmax_rows.pragma.1.jsonl",
                           300, name="pragma-synthetic-run")
    report_browser.program("report", "last", "--home", tmp_path / "home", "--html", tmp_path / "run.html")
    browser.open(tmp_path / "run.html")
    assert browser.count(".tree .node") == 301
    assert "A long run" in browser.text(".head")
    run = report_browser.show("last", tmp_path / "home")
    best = run["trials"][run["best"] - 1]
    browser.unfold_everything()
    assert browser.count("#attempts tbody tr") == 300
    assert best["candidate"]["files"]["kernel.cpp"] in browser.all_texts(".panel pre")


def test_run_without_attempts_has_a_page(browser, store, tmp_path):
    import shutil
    import sqlite3
    home, run, _ = store
    shutil.copytree(home, tmp_path / "home")
    with sqlite3.connect(tmp_path / "home" / "pragma.db") as database:
        database.execute("DELETE FROM trial")
        database.execute("DELETE FROM call")
        database.execute("UPDATE run SET final_json = '', state = 'running', stopped = ''")
    report_browser.program("report", run, "--home", tmp_path / "home", "--html", tmp_path / "run.html")
    browser.open(tmp_path / "run.html")
    assert "no kernel passed" in browser.text(".verdict")
    assert browser.count(".tree .node") == 1


def test_says_what_was_written(store, tmp_path):
    home, run, _ = store
    out, _ = report_browser.program("report", run, "--home", home, "--html", tmp_path / "run.html", "--json")
    said = json.loads(out)
    assert said["run"] == run
    assert said["bytes"] == (tmp_path / "run.html").stat().st_size


@pytest.mark.parametrize("arguments, words", [
    (("last",), "--html"),
    (("r-19700101", "--html", "x.html"), "r-19700101"),
    (("missing.json", "--html", "x.html"), "missing.json"),
    ((__file__, "--html", "x.html"), "test_run_page.py"),
])
def test_wrong_use_is_one_clear_line(store, arguments, words):
    _, errors = report_browser.program("report", *arguments, "--home", store[0], code=2)
    lines = [line for line in errors.splitlines() if line.startswith("pragma: error: ")]
    assert len(lines) == 1 and words in lines[0], errors
