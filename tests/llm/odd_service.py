"""A scripted language-model service for the real program: it speaks three protocols, streams, and behaves oddly on
purpose.

The first part of the path names the behaviour, the last ones pick the protocol, e.g. POST /plain/chat/completions,
/plain/v1/messages, /plain/responses. With /plain+no_fences/... the second request of that path meets the second
behaviour, and so on. Every request is kept in `Service.requests`. No model is behind it: the kernel is
that of tests/e2e/kernels/good.cpp.
"""

from __future__ import annotations

import http.server
import json
import pathlib
import threading
import time
from typing import Any

KERNEL = (pathlib.Path(__file__).resolve().parents[1] / "e2e" / "kernels" / "good.cpp").read_text()
HEAD, BODY = KERNEL.split("\n\n", 1)
FENCED = f"Here it is.\n\n```cpp\n{KERNEL}```\n"
CUT = KERNEL.index("  for (int c")  # in the middle of the function
PROSE = "I would tile the columns and vectorise the inner loop.\n"
TOKENS_IN, TOKENS_OUT, PIECE = 1000, 200, 40
CONTEXT_BYTES = 6000  # of the behaviour long_prompt


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        path = self.path.split("//", 1)[-1].split("/", 1)[-1] if "//" in self.path else self.path
        parts = path.strip("/").split("/")
        self.protocol = {"messages": "anthropic", "responses": "responses"}.get(parts[-1], "openai")
        self.body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        self.close_connection = True
        name, n = self.server.keep(parts[0], self.protocol, self.body, dict(self.headers))
        getattr(self, "on_" + name)(n)

    # How it answers

    def send(self, status: int, data: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status: int, message: str, **headers: str) -> None:
        self.send(status, json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode(), **headers)

    def refuse(self, name: str) -> None:
        self.fail(400, f"Unsupported parameter: '{name}' is not supported with this model.")

    def answer(self, text: str, reasoning: str = "", finish: str = "stop", tool: str = "", cached: int = 0, stream: bool | None = None) -> None:
        """Answers as the request asks to be answered: in one piece or as a stream of events."""
        streamed = bool(self.body.get("stream")) if stream is None else stream
        make = getattr(self, "events_" + self.protocol)
        whole, events = make(text, reasoning, finish, tool, cached)
        if not streamed:
            self.send(200, json.dumps(whole).encode())
            return
        self.begin_stream()
        for event in events:
            self.wfile.write(event.encode())

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()

    def events_openai(self, text: str, reasoning: str, finish: str, tool: str, cached: int) -> tuple[dict[str, Any], list[str]]:
        usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "prompt_tokens_details": {"cached_tokens": cached}}
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        deltas: list[dict[str, Any]] = [{"reasoning_content": p} for p in pieces(reasoning)]
        deltas += [{"content": p} for p in pieces(text)]
        if reasoning:
            message["reasoning_content"] = reasoning
        if tool:
            arguments = json.dumps({"path": "kernel.cpp", "content": tool})
            message["tool_calls"] = [{"type": "function", "function": {"name": "write_file", "arguments": arguments}}]
            deltas.append({"tool_calls": [{"index": 0, "function": {"name": "write_file", "arguments": ""}}]})
            deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in pieces(arguments)]
        whole = {"model": "scripted", "choices": [{"finish_reason": finish, "message": message}], "usage": usage}
        chunks: list[dict[str, Any]] = [{"model": "scripted", "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if "stream_options" in self.body:
            chunks.append({"choices": [], "usage": usage})
        return whole, [": keep-alive\n\n", *(f"data: {json.dumps(c)}\n\n" for c in chunks), "data: [DONE]\n\n"]

    def events_anthropic(self, text: str, reasoning: str, finish: str, tool: str, cached: int) -> tuple[dict[str, Any], list[str]]:
        stop = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[finish]
        marked = "cache_control" in json.dumps(self.body)
        usage = {"input_tokens": TOKENS_IN - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": TOKENS_OUT}
        if marked and not cached:
            usage |= {"input_tokens": TOKENS_IN - 800, "cache_creation_input_tokens": 800}
        blocks: list[tuple[dict[str, Any], str, str]] = []
        if reasoning:
            blocks.append(({"type": "thinking", "thinking": ""}, "thinking", reasoning))
        if text:
            blocks.append(({"type": "text", "text": ""}, "text", text))
        if tool:
            blocks.append(({"type": "tool_use", "name": "write_file", "input": {}}, "partial_json", json.dumps({"content": tool})))
        content = [b | ({"input": json.loads(t)} if k == "partial_json" else {k: t}) for b, k, t in blocks]
        whole = {"model": "scripted", "content": content, "stop_reason": stop, "usage": usage}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {"model": "scripted", "content": [], "usage": usage | {"output_tokens": 1}}}, {"type": "ping"}]
        for i, (block, kind, value) in enumerate(blocks):
            delta = {"text": "text_delta", "thinking": "thinking_delta", "partial_json": "input_json_delta"}[kind]
            events.append({"type": "content_block_start", "index": i, "content_block": block})
            events += [{"type": "content_block_delta", "index": i, "delta": {"type": delta, kind: p}} for p in pieces(value)]
            events.append({"type": "content_block_stop", "index": i})
        events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": TOKENS_OUT}})
        events.append({"type": "message_stop"})
        return whole, [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events]

    def events_responses(self, text: str, reasoning: str, finish: str, tool: str, cached: int) -> tuple[dict[str, Any], list[str]]:
        output: list[dict[str, Any]] = []
        if reasoning:
            output.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": reasoning}]})
        if text:
            output.append({"type": "message", "content": [{"type": "output_text", "text": text}]})
        if tool:
            output.append({"type": "function_call", "name": "write_file", "arguments": json.dumps({"content": tool})})
        usage = {"input_tokens": TOKENS_IN, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": TOKENS_OUT}
        cut = finish == "length"
        whole = {"model": "scripted", "status": "incomplete" if cut else "completed", "output": output, "usage": usage, "error": None}
        if cut:
            whole["incomplete_details"] = {"reason": "max_output_tokens"}
        events: list[dict[str, Any]] = [{"type": "response.created", "response": {"status": "in_progress", "output": []}}]
        events += [{"type": "response.output_text.delta", "delta": p} for p in pieces(text)]
        events.append({"type": "response.incomplete" if cut else "response.completed", "response": whole})
        return whole, [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events]

    # Streams

    def on_plain(self, n: int) -> None:
        self.answer(FENCED)

    def on_never_streams(self, n: int) -> None:
        self.answer(FENCED, stream=False)

    def on_refuses_streams(self, n: int) -> None:
        if self.body.get("stream"):
            self.refuse("stream")
        else:
            self.answer(FENCED)

    def on_only_streams(self, n: int) -> None:
        if not self.body.get("stream"):
            self.fail(400, "This model only support stream mode, please enable the stream parameter to access the model.")
        else:
            self.answer(FENCED)

    def on_streams_break(self, n: int) -> None:
        if self.body.get("stream"):
            self.begin_stream()
            self.wfile.write(b'data: {"choices": [{"delta": {"content": "Here"}}]}\n\n')
        else:
            self.answer(FENCED)

    def on_stays_open(self, n: int) -> None:
        self.answer(FENCED)
        self.wfile.flush()
        self.connection.recv(1)  # until the client hangs up

    def on_slow_stream(self, n: int) -> None:
        self.begin_stream()
        for event in self.events_openai(FENCED, "", "stop", "", 0)[1]:
            self.wfile.write(event.encode())
            self.wfile.flush()
            time.sleep(0.25)

    def on_stalls(self, n: int) -> None:
        self.begin_stream()
        self.wfile.write(b'data: {"choices": [{"delta": {"content": "Here it "}}]}\n\n')
        self.wfile.flush()
        self.connection.recv(1)

    def on_stalls_unstreamed(self, n: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message": {"content": "hel')
        self.wfile.flush()
        self.connection.recv(1)

    def on_silent(self, n: int) -> None:
        self.connection.recv(1)

    def on_fails_midway(self, n: int) -> None:
        if n > 1:
            self.answer(FENCED)
            return
        self.begin_stream()
        self.wfile.write(b'data: {"choices": [{"delta": {"content": "Here"}}]}\n\n')
        self.wfile.write(b'data: {"error": {"message": "the worker was lost"}}\n\n')

    # What it refuses

    def on_refuses_one_by_one(self, n: int) -> None:
        for name in ["max_tokens", "stream_options", "temperature", "top_p", "reasoning_effort"]:
            if name in self.body:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" and self.protocol == "openai" else ""
                self.fail(400, f"Unsupported parameter: '{name}' is not supported with this model.{hint}")
                return
        self.answer(FENCED)

    def on_short_replies_only(self, n: int) -> None:
        asked = self.body.get("max_tokens", self.body.get("max_output_tokens", 0))
        if asked > 4096:
            self.fail(400, f"max_tokens is too large: {asked}. This model supports at most 4096 completion tokens.")
        else:
            self.answer(FENCED)

    def on_refuses_for_another_reason(self, n: int) -> None:
        self.fail(400, "the temperature sensor of the machine room is offline")

    def on_refuses_the_key(self, n: int) -> None:
        self.fail(401, "Incorrect API key provided")

    def on_no_quota(self, n: int) -> None:
        error = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
        self.send(429, json.dumps(error).encode())

    def on_always_busy(self, n: int) -> None:
        self.fail(429, "Rate limit reached")

    def on_busy_at_once(self, n: int) -> None:
        self.fail(429, "Rate limit reached", Retry_After="0")

    def on_busy_once(self, n: int) -> None:
        if n == 1:
            self.fail(429, "Rate limit reached", Retry_After="1")
        else:
            self.answer(FENCED)

    def on_long_prompt(self, n: int) -> None:
        size = sum(len(m["content"]) for m in self.body.get("messages", self.body.get("input", [])))
        if size > CONTEXT_BYTES:
            self.send(400, json.dumps({"error": {"message": f"This model's maximum context length is {CONTEXT_BYTES // 4} tokens. However, your messages resulted in {size // 4} tokens.", "code": "context_length_exceeded"}}).encode())
        else:
            self.answer(FENCED)

    def on_long_prompt_later(self, n: int) -> None:
        """Takes the first prompt, and no later one that is as long as the second was."""
        size = sum(len(m["content"]) for m in self.body["messages"])
        if n == 2:
            self.server.longest = size
        if n > 1 and size >= self.server.longest:
            self.fail(400, f"prompt is too long: {size} tokens > {self.server.longest - 1} maximum")
        else:
            self.answer(FENCED)

    def on_small_window(self, n: int) -> None:
        asked = self.body.get("max_tokens", 0)
        prompt = sum(len(m["content"]) for m in self.body["messages"]) // 4
        if prompt + asked > 8192:
            self.fail(400, f"This model's maximum context length is 8192 tokens. However, you requested {prompt + asked} tokens ({prompt} in the messages, {asked} in the completion).")
        else:
            self.answer(FENCED)

    # What the reply is

    def on_code_in_reasoning(self, n: int) -> None:
        self.answer("", reasoning="I write it down.\n\n" + FENCED)

    def on_only_reasoning(self, n: int) -> None:
        self.answer("", reasoning="Let me think about strides for a while ...", finish="length")

    def on_empty(self, n: int) -> None:
        self.answer("")

    def on_tool_call(self, n: int) -> None:
        self.answer("", finish="tool_calls", tool="one line")

    def on_code_in_tool_call(self, n: int) -> None:
        self.answer("", finish="tool_calls", tool=KERNEL)

    def on_prose(self, n: int) -> None:
        self.answer(PROSE)

    def on_thinking_unclosed(self, n: int) -> None:
        self.answer("<think>\nThe columns are contiguous.\n\n" + FENCED)

    def on_tag_in_code(self, n: int) -> None:
        self.answer("```cpp\n// no </think> here, and no <think> either\n" + KERNEL + "```\n")

    def on_several_blocks(self, n: int) -> None:
        draft = FENCED.replace("gain[c] *", "")
        usage = "Use it so:\n\n```cpp\n#include \"kernel.h\"\nint main() { pragma_kernel(x, gain, shift, out, nullptr); }\n```\n"
        self.answer("A draft:\n\n" + draft + "\nBetter:\n\n" + FENCED + "\n" + usage)

    def on_split_in_function(self, n: int) -> None:
        self.answer(f"Part one:\n\n```cpp\n{KERNEL[:CUT]}```\n\nPart two:\n\n```cpp\n{KERNEL[CUT:]}```\n")

    def on_split_between_functions(self, n: int) -> None:
        self.answer(f"First the header:\n\n```cpp\n{HEAD}\n```\n\nThen the function:\n\n```cpp\n{BODY}```\n")

    def on_no_opening_fence(self, n: int) -> None:
        self.answer(f"Here it is.\n\n{KERNEL}```\nThat is all.\n")

    def on_no_fences(self, n: int) -> None:
        self.answer(f"Here it is.\n\n{KERNEL}\nThat is all.\n")

    def on_fence_in_code(self, n: int) -> None:
        self.answer(f'```cpp\n{HEAD}\n\nstatic const char* const kNote = R"(\n```\n)";\n\n{BODY}```\n')

    def on_code_tags(self, n: int) -> None:
        self.answer(f"<code>\n{KERNEL}</code>\n")

    # What it caches

    def on_caches(self, n: int) -> None:
        marked = "cache_control" in json.dumps(self.body)
        first = self.protocol == "anthropic" and (not marked or n < 3)
        self.answer(FENCED if n == 1 else FENCED.replace("Here", f"Here ({n})"), cached=0 if n == 1 or first else 800)


def pieces(text: str) -> list[str]:
    return [text[i : i + PIECE] for i in range(0, len(text), PIECE)]


class Service(http.server.ThreadingHTTPServer):
    """The service on a port of 127.0.0.1, until `close`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.prepare()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def prepare(self) -> None:
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.longest = 0
        self.counts: dict[tuple[str, str], int] = {}
        self.lock = threading.Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # clients hang up on purpose

    def keep(self, names: str, protocol: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[str, int]:
        """Keeps a request. Returns the behaviour whose turn it is, and how many came for these in that protocol."""
        with self.lock:
            self.counts[names, protocol] = n = self.counts.get((names, protocol), 0) + 1
            name = names.split("+")[min(n, names.count("+") + 1) - 1]
            self.requests.append((name, body, headers))
            return name, n

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()
