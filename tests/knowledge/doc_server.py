"""A small site of documentation that misbehaves on purpose, for tests of the knowledge builder.

Prints its port on the first line, serves 127.0.0.1 until its standard input closes. GET /log lists the
paths asked for so far, one a line.
"""

import http.server
import sys
import threading

LOCK = threading.Lock()
LOG: list[str] = []
BUSY: set[str] = set()

PAGES = {
    "/docs/": """<!doctype html><title>Guide</title><nav><a href="/docs/">home</a></nav>
      <h1>The guide</h1><p>Caches have <b>lines</b> of 64&nbsp;bytes &amp; more.</p>
      <script>var hidden = "not text";</script><style>p { color: red }</style>
      <ul><li><a href="one.html">one</a><li><a href="./two.html#part">two</a>
      <li><a href="/docs/gone.html">gone</a><li><a href="/other/away.html">away</a>
      <li><a href="//elsewhere.invalid/docs/x.html">elsewhere</a><li><a href="mailto:a@b.example">mail</a>
      <li><a href="moved-in.html">in</a><li><a href="moved-out.html">out</a>
      <li><a href="private/secret.html">secret</a><li><a href="picture.png">picture</a>
      <li><a href="busy.html">busy</a></ul>""",
    "/docs/one.html": """<h2>One</h2><p>The first page.</p><pre>for (;;) {\n  wait();\n}</pre>
      <a href="/docs/">back</a> <a href="deep/three.html">three</a>""",
    "/docs/two.html": "<h2>Two</h2><p>The second page.</p><a href='one.html'>one</a>",
    "/docs/deep/three.html": "<h2>Three</h2><p>The third page.</p><a href='four.html'>four</a>",
    "/docs/deep/four.html": "<h2>Four</h2><p>The fourth page.</p><a href='three.html'>three</a>",
    "/docs/target.html": "<h2>Target</h2><p>Where a redirect led.</p>",
    "/docs/private/secret.html": "<p>Robots stay out.</p>",
    "/docs/busy.html": "<h2>Busy</h2><p>At the second try.</p>",
    "/other/away.html": "<p>Outside of the path.</p>",
    "/empty/": "<html><body></body></html>",
    "/plain/text.txt": "PLAIN\n\nA text without marks: a < b & c.\n",
}
REDIRECTS = {
    "/docs/moved-in.html": "target.html",
    "/docs/moved-out.html": "/other/away.html",
    "/docs": "/docs/",
    "/loop/a": "/loop/b",
    "/loop/b": "/loop/a",
    "/away": "http://elsewhere.invalid/",
}
ROBOTS = "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /docs/private/\nCrawl-delay: 0.01\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, status: int, text: str, kind: str = "text/html; charset=utf-8", **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        path = self.path
        if path == "/log":
            self.answer(200, "\n".join(LOG), "text/plain")
            return
        with LOCK:
            LOG.append(path)
            first = path not in BUSY
            BUSY.add(path)
        if path == "/robots.txt":
            self.answer(200, ROBOTS, "text/plain")
        elif path == "/docs/busy.html" and first:
            self.answer(503, "later", Retry_After="0")
        elif path in REDIRECTS:
            self.answer(302, "", Location=REDIRECTS[path])
        elif path == "/docs/picture.png":
            self.answer(200, "PNG", "image/png")
        elif path.startswith("/endless/"):
            number = int(path.rsplit("/", 1)[1] or "0")
            self.answer(200, f"<p>Page {number}.</p><a href='{number + 1}'>next</a><a href='{number + 1000}'>far</a>")
        elif path in PAGES:
            self.answer(200, PAGES[path], "text/plain" if path.endswith(".txt") else "text/html; charset=utf-8")
        else:
            self.answer(404, "<p>no such page</p>")


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
