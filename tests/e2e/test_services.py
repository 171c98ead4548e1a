"""The real program against a local service that behaves oddly: tests/llm/services.py has the cases."""
from __future__ import annotations

import http.server
import json
import select
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time

import pytest
from conftest import PRAGMA, ROOT, environment

sys.path.insert(0, str(ROOT / "tests" / "llm"))

from odd_service import Handler, Service  # noqa: E402
from services import CASES, KEY, TASK, Case, check, drive, one_run, sharing_runs  # noqa: E402

CACHES = next(case for case in CASES if case.id == "caches-openai")  # test_the_saving_is_shown checks it
ALONE = [case for case in CASES if not case.in_turn and case is not CACHES]


@pytest.fixture
def service():
    running = Service()
    yield running
    running.close()


@pytest.mark.parametrize("case", ALONE, ids=lambda case: f"{case.id}-{CASES.index(case)}")
def test_every_behaviour_ends_as_it_should(case, service, tmp_path, own_home):
    check(drive(case, service, tmp_path, own_home))


@pytest.mark.parametrize("cases", sharing_runs(), ids=lambda cases: cases[0].protocol)
def test_every_reply_holds_a_kernel_that_passes(cases, service, tmp_path, own_home):
    """One run, each of whose attempts gets another reply. The kernels are almost the same, so their timing is quick."""
    done = drive(one_run(cases), service, tmp_path, own_home)
    check(done)
    assert [name for name, _, _ in done.requests] == [case.name for case in cases]
    show = [str(PRAGMA), "show", "last", "--json", "--home", str(own_home)]
    trials = json.loads(subprocess.run(show, capture_output=True, text=True, check=True).stdout)["trials"]
    got = [(case.name, trial["evaluation"]["status"]) for case, trial in zip(cases, trials, strict=True)]
    assert got == [(case.name, "passed") for case in cases]
    said = {note: sum(note in line for line in done.err.splitlines()) for note in {case.notes for case in cases} - {""}}
    assert said == {note: sum(case.notes == note for case in cases) for note in said}, done.err


def test_what_is_asked_for(service, tmp_path, own_home):
    """A stream with usage, and what pragma.toml sets."""
    settings = 'reasoning_effort = "low"\nmax_tokens = 5000\ntop_p = 0.5'
    drive(Case("plain", "", 1, settings=settings), service, tmp_path, own_home)
    body = service.requests[0][1]
    assert body["stream"] is True and body["stream_options"] == {"include_usage": True}
    assert (body["reasoning_effort"], body["max_tokens"], body["top_p"]) == ("low", 5000, 0.5)
    drive(Case("plain", "", 1, settings="thinking_tokens = 2000", protocol="anthropic"), service, tmp_path, own_home)
    body = service.requests[1][1]
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000} and "temperature" not in body
    drive(Case("plain", "", 1, settings='reasoning_effort = "high"', protocol="responses"), service, tmp_path, own_home)
    body = service.requests[2][1]
    assert body["reasoning"] == {"effort": "high"} and body["max_output_tokens"] == 16384 and body["store"] is False
    refused = drive(Case("plain", "", 0, settings="thinking_tokens = 2000"), service, tmp_path, own_home)
    assert refused.code == 2 and "use reasoning_effort" in refused.error_lines[0]
    assert len(service.requests) == 3


def test_the_stable_part_of_a_prompt_comes_first_and_is_marked(service, tmp_path, own_home):
    case = next(case for case in CASES if case.name == "caches" and case.protocol == "anthropic")
    flags = ["--attempts", "3"]
    done = drive(Case(**{**vars(case), "flags": flags, "strategy": "n-pragma"}), service, tmp_path, own_home)
    assert done.code == 0, done.err
    contents = [body["messages"][0]["content"] for _, body, _ in service.requests]
    contents = [content for content in contents if "You are an expert" in str(content)[:200]]  # the Coder's
    assert isinstance(contents[0], str)
    marked = [content for content in contents[1:] if isinstance(content, list)]
    assert len(marked) >= 2 and len({content[0]["text"] for content in marked}) == 1
    assert all(content[0]["cache_control"] == {"type": "ephemeral"} and "cache_control" not in content[1] for content in marked)
    assert contents[0].startswith(marked[0][0]["text"]) and len(marked[0][0]["text"]) > 4096
    assert done.spent["tokens_cached"] >= 800


def test_the_saving_is_shown(service, tmp_path, own_home):
    check(drive(CACHES, service, tmp_path, own_home))
    shown = subprocess.run(
        [str(PRAGMA), "show", "last", "--home", str(own_home)], capture_output=True, text=True
    ).stdout
    assert "read from the cache of prompts" in shown and "saved by the cache" in shown


def test_a_streamed_run_replays(tmp_path):
    recording = ROOT / "recordings" / "streamed_service.jsonl"
    command = [str(PRAGMA), "replay", str(recording), "--home", str(tmp_path / "home"), "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["same_tree"] is True, done.stderr


def test_interrupting_a_wait_answers_at_once_and_the_run_goes_on(service, tmp_path, own_home):
    """Ctrl-C while the service is silent; then `resume` with the same service, which answers now."""
    (tmp_path / "pragma.toml").write_text("interval_width = 1000000\n")
    command = [str(PRAGMA), "optimize", str(TASK), "--model", "openai:fake", "--strategy", "sampling", "--no-seeds"]
    command += ["--attempts", "1", "--no-compile-baseline", "--no-call", "--no-lint", "--home", str(own_home)]
    known = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": service.url("stalls")}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(**known), stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while not service.requests:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    known["OPENAI_BASE_URL"] = service.url("plain")
    resume = [str(PRAGMA), "resume", "last", "--no-compile-baseline", "--no-call", "--home", str(own_home)]
    assert subprocess.run(resume, cwd=tmp_path, env=environment(**known), capture_output=True).returncode == 0


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    upstream = 0  # the service's port

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Forward)
        self.lines: list[str] = []


class Forward(socketserver.BaseRequestHandler):
    """A proxy: CONNECT tunnels, and requests with a whole address. Every host is the service on this machine."""

    server: Proxy

    def handle(self) -> None:
        first = self.request.recv(65536)
        line = first.split(b"\r\n", 1)[0].decode()
        self.server.lines.append(line)
        upstream = socket.create_connection(("127.0.0.1", self.server.upstream))
        if line.startswith("CONNECT"):
            self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            upstream.sendall(first)
        ends = [self.request, upstream]
        while True:
            for end in select.select(ends, [], [], 60)[0]:
                data = end.recv(65536)
                if not data:
                    upstream.close()
                    return
                ends[1 - ends.index(end)].sendall(data)


@pytest.fixture
def proxy():
    running = Proxy()
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def through(proxy, service, url: str, tmp_path, home, **variables: str):
    """A run whose service has an address that only the proxy knows."""
    proxy.upstream = service.server_address[1]
    return drive(Case("plain", "", 0), service, tmp_path, home, OPENAI_BASE_URL=url, **variables)


def test_a_proxy_is_used_where_it_is_named(proxy, service, tmp_path, own_home):
    address = f"http://127.0.0.1:{proxy.server_address[1]}"
    url = "http://models.invalid/plain"
    done = through(proxy, service, url, tmp_path, own_home, http_proxy=address)
    assert done.code == 0, done.err
    assert proxy.lines == ["POST http://models.invalid/plain/chat/completions HTTP/1.1"]
    assert len(service.requests) == 1


def test_no_proxy_goes_around_it_and_a_dead_proxy_is_named(proxy, service, tmp_path, own_home):
    address = f"http://127.0.0.1:{proxy.server_address[1]}"
    url = "http://models.invalid/plain"
    around = quick_fail(service, tmp_path, own_home, OPENAI_BASE_URL=url, http_proxy=address, no_proxy="other.host,.invalid")
    assert around.code == 3 and "Could not resolve host: models.invalid" in around.error_lines[0]
    assert "proxy" not in around.error_lines[0] and proxy.lines == []
    dead = quick_fail(service, tmp_path, own_home, OPENAI_BASE_URL=url, http_proxy="http://127.0.0.1:1")
    assert dead.code == 3 and "through the proxy in http_proxy" in dead.error_lines[0]
    secure = quick_fail(service, tmp_path, own_home, OPENAI_BASE_URL="https://models.invalid/v1", HTTPS_PROXY="http://127.0.0.1:1")
    assert secure.code == 3 and "through the proxy in HTTPS_PROXY" in secure.error_lines[0]


def quick_fail(service, tmp_path, home, **variables: str):
    """A run without retries."""
    return drive(Case("plain", "", 0, settings="", retries=0), service, tmp_path, home, **variables)


def test_this_machine_needs_no_proxy(service, tmp_path, own_home):
    dead = {name: "http://127.0.0.1:1" for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]}
    done = drive(Case("plain", "", 1), service, tmp_path, own_home, **dead)
    assert done.code == 0 and len(service.requests) == 1, done.err


@pytest.fixture
def secure(tmp_path):
    """The service behind TLS, with a certificate of its own."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    command += " -addext subjectAltName=IP:127.0.0.1,DNS:models.invalid -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    running = Service.__new__(Service)
    http.server.ThreadingHTTPServer.__init__(running, ("127.0.0.1", 0), Handler)
    running.prepare()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    running.socket = context.wrap_socket(running.socket, server_side=True)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.close()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "CURL_CA_BUNDLE"])
def test_an_own_certificate_is_trusted_where_it_is_named(secure, variable, tmp_path, own_home):
    url = f"https://127.0.0.1:{secure.server_address[1]}/plain"
    done = drive(Case("plain", "", 1), secure, tmp_path, own_home, OPENAI_BASE_URL=url, **{variable: str(tmp_path / "cert.pem")})
    assert done.code == 0 and len(secure.requests) == 1, done.err


def test_an_unknown_certificate_is_refused_at_once_with_what_to_set(secure, tmp_path, own_home):
    url = f"https://127.0.0.1:{secure.server_address[1]}/plain"
    done = drive(Case("plain", "", 0), secure, tmp_path, own_home, OPENAI_BASE_URL=url)
    assert done.code == 2 and "set SSL_CERT_FILE (or CURL_CA_BUNDLE)" in done.error_lines[0]
    assert "trying again" not in done.err and secure.requests == []
    shutil.copy(tmp_path / "pragma.toml", tmp_path / "nothing.pem")
    done = drive(Case("plain", "", 0), secure, tmp_path, own_home, OPENAI_BASE_URL=url, SSL_CERT_FILE=str(tmp_path / "nothing.pem"))
    assert done.code == 2 and "SSL_CERT_FILE" in done.error_lines[0]
    assert "trying again" not in done.err and secure.requests == []


def test_a_tunnel_through_a_proxy_keeps_the_certificate(secure, proxy, tmp_path, own_home):
    address = f"http://127.0.0.1:{proxy.server_address[1]}"
    trust = {"SSL_CERT_FILE": str(tmp_path / "cert.pem")}
    done = through(proxy, secure, "https://models.invalid/plain", tmp_path, own_home, https_proxy=address, **trust)
    assert done.code == 0, done.err
    assert proxy.lines == ["CONNECT models.invalid:443 HTTP/1.1"] and len(secure.requests) == 1
