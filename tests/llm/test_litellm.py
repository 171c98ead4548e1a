"""llm_probe against a real LiteLLM proxy: both protocols, keys, errors, tokens.

Needs tests/llm/setup_litellm.sh to have run, and llm_probe in $PRAGMA_BUILD_DIR (default: build).
"""

import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LITELLM = ROOT / ".venv-litellm" / "bin" / "litellm"
PROBE = ROOT / os.environ.get("PRAGMA_BUILD_DIR", "build") / "llm_probe"
START_LIMIT_S = 50

CONFIG = """
model_list:
  - model_name: plain
    litellm_params: {model: openai/plain, api_key: none, mock_response: "six times seven is 42"}
  - model_name: thinker
    litellm_params:
      {model: openai/thinker, api_key: none, mock_response: "<think>6*7 ```cpp wrong```</think>42"}
  - model_name: busy
    litellm_params: {model: openai/busy, api_key: none, mock_response: "litellm.RateLimitError"}
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
litellm_settings: {num_retries: 0, telemetry: false}
router_settings: {disable_cooldowns: true}
"""


class Proxy:
    def __init__(self, url: str, key: str, process: "subprocess.Popen[bytes]", log: pathlib.Path) -> None:
        self.url, self.key, self.process, self.log = url, key, process, log

    def probe(
        self, spec: str, key: str | None = None, question: str = "What is 6 x 7?"
    ) -> "subprocess.CompletedProcess[str]":
        environment = {k: v for k, v in os.environ.items() if "_API_KEY" not in k and "_BASE_URL" not in k}
        environment |= {"no_proxy": "127.0.0.1"}
        used = self.key if key is None else key
        environment |= {"OPENAI_BASE_URL": self.url + "/v1", "ANTHROPIC_BASE_URL": self.url}
        if used:
            environment |= {"OPENAI_API_KEY": used, "ANTHROPIC_API_KEY": used}
        return subprocess.run(
            [str(PROBE), spec], input=question, env=environment, capture_output=True, text=True, timeout=60
        )


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def wait_until_alive(proxy: Proxy) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        assert proxy.process.poll() is None, proxy.log.read_text()[-3000:]
        try:
            with opener.open(proxy.url + "/health/liveliness", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail("the LiteLLM proxy did not start:\n" + proxy.log.read_text()[-3000:])


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    assert LITELLM.exists(), "run tests/llm/setup_litellm.sh first"
    assert PROBE.exists(), f"build llm_probe first (no {PROBE})"
    folder = tmp_path_factory.mktemp("litellm")
    (folder / "config.yaml").write_text(CONFIG)
    port, key = free_port(), "sk-" + secrets.token_hex(24)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    environment |= {"LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "no_proxy": "*"}
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(LITELLM), "--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    running = Proxy(f"http://127.0.0.1:{port}", key, process, log)
    try:
        wait_until_alive(running)
        yield running
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_completes(proxy: Proxy, protocol: str) -> None:
    done = proxy.probe(f"{protocol}:plain")
    assert done.returncode == 0, done.stderr
    completion = json.loads(done.stdout)
    assert completion["text"] == "six times seven is 42"
    assert completion["tokens_in"] > 0 and completion["tokens_out"] > 0
    assert not completion["tokens_estimated"]
    assert not completion["truncated"]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_separates_reasoning(proxy: Proxy, protocol: str) -> None:
    done = proxy.probe(f"{protocol}:thinker")
    assert done.returncode == 0, done.stderr
    completion = json.loads(done.stdout)
    assert completion["text"].strip() == "42"
    assert "6*7" in completion["reasoning"]


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_wrong_key_is_refused_and_not_shown(proxy: Proxy, protocol: str) -> None:
    wrong = "sk-" + secrets.token_hex(24)
    done = proxy.probe(f"{protocol}:plain", key=wrong)
    assert done.returncode == 1
    # Without a database the proxy answers 400 here, not 401 (which the missing key below gets).
    assert "refused the" in done.stderr and "trying again" not in done.stderr
    assert wrong not in done.stderr + done.stdout


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_missing_key_is_named(proxy: Proxy, protocol: str) -> None:
    done = proxy.probe(f"{protocol}:plain", key="")
    assert done.returncode == 1
    assert f"set {protocol.upper()}_API_KEY" in done.stderr


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_unknown_model_is_named(proxy: Proxy, protocol: str) -> None:
    done = proxy.probe(f"{protocol}:nothing-like-this")
    assert done.returncode == 1
    assert "nothing-like-this" in done.stderr
    assert "trying again" not in done.stderr


def test_rate_limit_is_retried(proxy: Proxy) -> None:
    done = proxy.probe("openai:busy")
    assert done.returncode == 1
    assert "429" in done.stderr and "gave up after 3 tries" in done.stderr


def test_long_prompts_arrive(proxy: Proxy) -> None:
    done = proxy.probe("openai:plain", question="x " * 100_000)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"] == "six times seven is 42"
