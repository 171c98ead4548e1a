"""A service with an untrusted certificate gets neither prompt nor key."""

import http.server
import os
import pathlib
import secrets
import ssl
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = ROOT / os.environ.get("PRAGMA_BUILD_DIR", "build") / "llm_probe"


class Recorder(http.server.BaseHTTPRequestHandler):
    requests = 0

    def do_POST(self) -> None:
        Recorder.requests += 1
        self.send_error(500)


def make_certificate(folder: pathlib.Path) -> None:
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    command += " -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)


def test_untrusted_certificate_is_refused(tmp_path: pathlib.Path) -> None:
    make_certificate(tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    key = "sk-" + secrets.token_hex(24)
    try:
        done = subprocess.run(
            [str(PROBE), "openai:x", f"https://127.0.0.1:{server.server_address[1]}/v1"],
            input="hello",
            env={**os.environ, "OPENAI_API_KEY": key, "no_proxy": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        server.shutdown()
    assert done.returncode == 1
    assert "certificate" in done.stderr
    assert "trying again" not in done.stderr
    assert key not in done.stderr
    assert Recorder.requests == 0
