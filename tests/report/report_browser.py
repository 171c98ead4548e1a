"""A headless Chromium that opens reports, and the program that writes them."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("PRAGMA_BUILD", ROOT / "build")).resolve()
RECORDINGS = ROOT / "recordings" / "feedback"
LIMIT_SECONDS = 300  # to draw a page, on a machine that does much else


def program(*arguments, name="pragma", code=0):
    """Runs a program of the build; returns what it printed, (stdout, stderr)."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("COLUMNS", None)
    done = subprocess.run([BUILD / name, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, env=environment, timeout=1200)
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def replayed(recording, home):
    """Grows a recorded run in the store; returns its id."""
    out, _ = program("replay", recording, "--home", home, "--json")
    return json.loads(out)["run"]


def show(run, home):
    return json.loads(program("show", run, "--home", home, "--json")[0])


class Browser:
    """One browser for all tests; each page starts without memory of the last."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        assert options.binary_location, "chromium is missing: tools/setup.sh packages test"
        driver = shutil.which("chromedriver")
        assert driver, "chromedriver is missing: tools/setup.sh packages test"
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                     "--hide-scrollbars"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.driver.set_page_load_timeout(LIMIT_SECONDS)
        self.driver.set_script_timeout(LIMIT_SECONDS)

    def open(self, page, width=1400, height=1000, dark=False):
        """Opens the file and waits until it says that it is drawn."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.driver.get(pathlib.Path(page).resolve().as_uri())
        self.wait("document.documentElement.dataset.drawn === 'yes'")

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def js(self, expression, *arguments):
        return self.driver.execute_script("return " + expression, *arguments)

    def wait(self, condition):
        """Until the JavaScript condition holds; what went wrong on the page is the message."""
        waiting = WebDriverWait(self.driver, LIMIT_SECONDS, poll_frequency=0.02)
        with contextlib.suppress(Exception):
            waiting.until(lambda _: self.js(condition))
        assert self.js(condition), (condition, self.complaints())

    def text(self, selector):
        return self.js("document.querySelector(arguments[0]).textContent", selector)

    def all_texts(self, selector):
        return self.js("[...document.querySelectorAll(arguments[0])].map(e => e.textContent)",
                       selector)

    def count(self, selector):
        return self.js("document.querySelectorAll(arguments[0]).length", selector)

    def click(self, selector):
        """As a reader would: what lies on top of it would get the click."""
        element = self.driver.find_element("css selector", selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def press(self, selector, *keys):
        self.driver.find_element("css selector", selector).send_keys(*keys)

    def select(self, node):
        """Clicks an attempt in the tree and waits for its panel."""
        self.click(f"#node-{node} .dot")
        self.wait(f"document.querySelector('.panel').dataset.shown === '{node}'")

    def unfold_everything(self):
        """Opens every fold, those inside folds too, and every 'show all'."""
        self.driver.execute_script("""
          for (let again = 0; again < 6; again += 1) {
            for (const fold of document.querySelectorAll('details:not([open])')) {
              fold.open = true;
              fold.dispatchEvent(new Event('toggle'));
            }
            for (const more of document.querySelectorAll('button.more:not([hidden])')) more.click();
          }""")

    def complaints(self):
        """Console messages since the last call: errors, refusals of the policy, warnings."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def assert_quiet(self):
        """No console message and nothing loaded."""
        assert self.complaints() == []
        assert self.js("performance.getEntriesByType('resource').map(e => e.name)") == []

    def assert_fits(self):
        """The page does not scroll sideways."""
        assert self.js("document.documentElement.scrollWidth") <= self.js("window.innerWidth")

    def close(self):
        self.driver.quit()
