"""The page of a bench, as a reader uses it."""

import json

import pytest
import report_browser


def column(browser, number):
    return browser.all_texts(f"#tasks tbody td:nth-child({number})")


def test_compares_the_strategies_by_the_definitions(browser, bench_page):
    browser.open(bench_page)
    rows = browser.js("[...document.querySelectorAll('#strategies tbody tr')].map("
                      "r => [...r.children].map(c => c.textContent))")
    titles = browser.all_texts("#strategies th")
    figures = {row[0]: dict(zip(titles, row)) for row in rows}
    assert figures["fast"]["success"] == "75 %"
    assert figures["fast"]["fast 1"] == "75 %"
    assert figures["fast"]["fast 1.5"] == "50 %"
    assert figures["fast"]["geomean"] == "1.93×"  # (3 * 2 * 1.2) ** (1 / 3)
    assert figures["fast"]["with fallback"] == "1.64×"  # (3 * 2 * 1.2 * 1) ** (1 / 4)
    assert figures["slow"]["success"] == "50 %"
    assert figures["slow"]["fast 1"] == "25 %"  # 0.8 is not faster
    assert figures["slow"]["with fallback"] == "1.05×"  # (1.5 * 0.8) ** (1 / 4): only a failure counts as 1


@pytest.mark.parametrize("name", ["model", "expert-avx2", "expert-avx512"])
def test_writes_a_page_from_a_kept_result(browser, store, tmp_path, name):
    """The pages of docs/results/strategies/ are not kept: the command makes each from its JSON, with the same figures."""
    result = report_browser.ROOT / "docs" / "results" / "strategies" / f"{name}.json"
    report_browser.program("report", result, "--home", store[0], "--html", tmp_path / "bench.html")
    browser.open(tmp_path / "bench.html")
    shown = dict(zip(browser.all_texts("#strategies tbody td:nth-child(1)"), zip(
        *(browser.all_texts(f"#strategies tbody td:nth-child({number})") for number in (7, 8)))))
    said = json.loads(result.read_text())["strategies"]
    assert shown == {name: (f"{arm['geomean']:.2f}×", f"{arm['geomean_fallback']:.2f}×") for name, arm in said.items()}
    assert browser.js("Math.min(...[...document.querySelectorAll('#curves path.line')].map(p => p.getBBox().height))") > 10


def test_draws_every_chart(browser, bench_page):
    browser.open(bench_page)
    assert browser.count("#categories rect.f0") >= 2
    assert browser.count("#fast path.line") == 2
    assert browser.count("#distribution circle") == 5  # rows that passed
    assert browser.count("#curves path.line") == 2
    browser.click("#curves .choice button:nth-child(2)")
    assert "tokens per task" in browser.all_texts("#curves svg text")


def test_filters_narrow_the_tasks(browser, bench_page):
    browser.open(bench_page)
    assert len(column(browser, 1)) == 8
    browser.press("#filters input", "four")
    assert column(browser, 1) == ["four", "four"]
    browser.driver.execute_script("document.querySelector('#filters input').value = '';"
                                  "document.querySelector('#filters input').dispatchEvent(new Event('input'))")
    browser.press("#filters label:nth-child(2) select", "slow")
    assert set(column(browser, 4)) == {"slow"} and len(column(browser, 1)) == 4


def test_degenerate_tasks_are_marked_and_can_be_left_out(browser, bench_page):
    browser.open(bench_page)
    assert browser.count("#tasks tr.degenerate") == 2
    assert "⚠ degenerate" in column(browser, 3)
    assert "1 of the tasks cannot tell" in browser.text(".head")
    browser.click("[aria-label='Tasks'].choice button:nth-child(2)")
    assert browser.count("#tasks tr.degenerate") == 0
    assert len(column(browser, 1)) == 6
    assert browser.all_texts("#strategies tbody td:nth-child(2)") == ["3", "3"]


def test_fits_a_phone(browser, bench_page):
    browser.open(bench_page, width=390, height=844)
    browser.assert_fits()
