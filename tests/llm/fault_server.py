"""A language-model service that misbehaves on purpose, for tests of src/http and src/llm.

Prints its port on the first line, serves 127.0.0.1 until its standard input closes. The first part
of the path picks what goes wrong, e.g. POST /busy/chat/completions; the last part picks the protocol
(chat/completions: OpenAI's, v1/messages: Anthropic's). Counts are per first part.
"""

import email.utils
import http.server
import json
import sys
import threading
import time

COUNTS: dict[str, int] = {}
LOCK = threading.Lock()


def count(scenario: str) -> int:
    with LOCK:
        COUNTS[scenario] = COUNTS.get(scenario, 0) + 1
        return COUNTS[scenario]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        parts = self.path.strip("/").split("/")
        length = int(self.headers.get("Content-Length", "0"))
        self.request_text = self.rfile.read(length).decode()
        self.anthropic = parts[-1] == "messages"
        self.close_connection = True
        scenario = getattr(self, "on_" + parts[0].replace("-", "_"))
        scenario(count(parts[0]))

    def do_GET(self) -> None:
        self.do_POST()

    # Replies

    def send_text(self, status: int, text: str, kind: str = "application/json", **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def complete(self, text: str, thinking: str = "", **message: str) -> None:
        if self.anthropic:
            content = [{"type": "thinking", "thinking": thinking, "signature": "s"}] if thinking else []
            content.append({"type": "text", "text": text})
            reply = {
                "model": "fake-1",
                "content": content,
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 11, "output_tokens": 7},
            }
        else:
            reply = {
                "model": "fake-1",
                "choices": [
                    {"finish_reason": "stop", "message": {"role": "assistant", "content": text, **message}}
                ],
                "usage": {"prompt_tokens": 11, "completion_tokens": 7},
            }
        self.send_text(200, json.dumps(reply))

    def fail(self, status: int, message: str, **headers: str) -> None:
        self.send_text(status, json.dumps({"error": {"message": message, "type": "t"}}), **headers)

    def embed(self, vectors: list[list[float]]) -> None:
        data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        self.send_text(200, json.dumps({"object": "list", "data": data[::-1], "model": "fake-1"}))

    # Pages and embeddings

    def on_page(self, n: int) -> None:
        self.send_text(200, f"{self.command} {self.headers['Accept']}", "text/html")

    def on_embed(self, n: int) -> None:
        request = json.loads(self.request_text)
        assert self.path.endswith("/embeddings") and request["encoding_format"] == "float"
        self.embed([[float(len(text)), float(n), 1.0] for text in request["input"]])

    def on_embed_busy(self, n: int) -> None:
        if n == 1:
            self.fail(429, "slow down", Retry_After="7")
        else:
            self.on_embed(n)

    def on_embed_few(self, n: int) -> None:
        self.embed([[1.0]])

    # What goes wrong

    def on_ok(self, n: int) -> None:
        self.complete("hello")

    def on_echo(self, n: int) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.complete(json.dumps({"path": self.path, "headers": headers, "body": json.loads(self.request_text)}))

    def on_busy(self, n: int) -> None:
        if n == 1:
            self.fail(429, "slow down", Retry_After="7")
        else:
            self.complete(f"after {n}")

    def on_busy_date(self, n: int) -> None:
        if n == 1:
            self.fail(429, "slow down", Retry_After=email.utils.formatdate(time.time() + 30, usegmt=True))
        else:
            self.complete(f"after {n}")

    def on_busy_for_a_day(self, n: int) -> None:
        self.fail(429, "come back tomorrow", Retry_After="86400")

    def on_no_quota(self, n: int) -> None:
        self.send_text(
            429, json.dumps({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}})
        )

    def on_fail_twice(self, n: int) -> None:
        if n <= 2:
            self.fail(500, "boom")
        else:
            self.complete(f"after {n}")

    def on_always_503(self, n: int) -> None:
        self.fail(503, "overloaded")

    def on_slow(self, n: int) -> None:
        self.connection.recv(1)  # says nothing until the client hangs up

    def on_cut_once(self, n: int) -> None:
        if n > 1:
            self.complete(f"after {n}")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message": {"content": "hel')

    def on_cut_without_length(self, n: int) -> None:
        if n > 1:
            self.complete(f"after {n}")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message": {"content": "hel')

    def on_invalid_once(self, n: int) -> None:
        if n > 1:
            self.complete(f"after {n}")
        else:
            self.send_text(200, "{choices: nope}")

    def on_html_once(self, n: int) -> None:
        if n > 1:
            self.complete(f"after {n}")
        else:
            self.send_text(200, "<html>Please log in</html>", "text/html")

    def on_html(self, n: int) -> None:
        self.send_text(200, "<html>Please log in</html>", "text/html")

    def on_empty_choices(self, n: int) -> None:
        self.send_text(200, '{"choices": []}')

    def on_error_200(self, n: int) -> None:
        if n > 1:
            self.complete(f"after {n}")
        else:
            self.fail(200, "upstream is down")

    def on_huge(self, n: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        try:
            for _ in range(64):
                self.wfile.write(b" " * (1 << 20))
        except OSError:
            pass  # the client has had enough

    def on_unauthorized(self, n: int) -> None:
        key = self.headers.get("Authorization", "") + self.headers.get("x-api-key", "")
        self.fail(401, f"wrong key: {key}")

    def on_missing(self, n: int) -> None:
        self.fail(404, "no such model")

    def on_bad_request(self, n: int) -> None:
        self.fail(400, "the moon is full")

    def on_picky(self, n: int) -> None:
        body = json.loads(self.request_text)
        if "max_tokens" in body and not self.anthropic:
            self.fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        elif "temperature" in body:
            self.fail(400, "`temperature` is not supported with this model.")
        else:
            self.complete(f"after {n}")

    def on_redirect(self, n: int) -> None:
        self.send_text(302, "", Location="http://user:pw@elsewhere.invalid/v1?token=1")

    def on_reasoning(self, n: int) -> None:
        if self.anthropic:
            self.complete("answer", thinking="I think")
        else:
            self.complete("answer", reasoning_content="I think")

    def on_reasoning_short(self, n: int) -> None:
        self.complete("answer", reasoning="I think")

    def on_think(self, n: int) -> None:
        self.complete("<think>I think ```cpp\nwrong\n```</think>\nanswer")


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
