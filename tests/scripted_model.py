"""A scripted model: a real HTTP server on loopback that speaks the chat-completions protocol and answers from a script.

    with ScriptedModel(["MATCH (o:Object) RETURN o.name", Fail(429, "slow down"), "[]"]) as server:
        model = OpenAIModel(base_url=server.base_url, api_key="scripted", model="scripted")
        ...
    assert "fridge" in server.requests[0]["messages"][-1]["content"]

A script is a sequence of steps, one a request in the order of arrival, or a function from the request's JSON to a step.
A step is a text to answer, or one of the misbehaviours below. It is no language model, and says so in its name.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Final, Self, assert_never

MODEL_NAME: Final = "scripted"


@dataclass(frozen=True, slots=True)
class Say:
    """Answer `text`, with a token count (None: the service reports no usage) and a finish reason."""

    text: str | None
    usage: tuple[int, int] | None = (11, 7)
    finish: str = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer an HTTP error, its body as OpenAI writes it."""

    status: int
    message: str
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: {"retry-after-ms": "1"})


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer these bytes as they are: broken JSON, a web page, an answer without choices."""

    content: bytes
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection, before the answer or (`halfway`) in the middle of its body."""

    halfway: bool = False


@dataclass(frozen=True, slots=True)
class Stall:
    """Say nothing until the server is closed, or the client gives up."""


Step = str | Say | Fail | Raw | Drop | Stall
Script = Sequence[Step] | Callable[[dict[str, Any]], Step]


class ScriptedModel:
    """A server that listens inside its `with`; `requests` are the received bodies, `headers` their headers."""

    def __init__(self, script: Script, *, models: Sequence[str] = (MODEL_NAME,)) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.models = tuple(models)
        self.closing = Event()
        self._script, self._at = script, 0
        self._lock = Lock()
        self._server: _Server | None = None

    @property
    def base_url(self) -> str:
        """Return the value for OPENAI_BASE_URL."""
        assert self._server is not None, "enter the server's `with` first"
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def next_step(self, request: dict[str, Any], headers: Mapping[str, str]) -> Step:
        """Record a request and decide its answer."""
        with self._lock:
            self.requests.append(request)
            self.headers.append({name.casefold(): value for name, value in headers.items()})
            self._at += 1
            if callable(self._script):
                return _asked(self._script, request)
            if self._at > len(self._script):
                return Fail(400, f"the script has {len(self._script)} steps, and this is request {self._at}")
            return self._script[self._at - 1]

    def __enter__(self) -> Self:
        self._server = _Server(self)
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # five, the default, are soon full where many threads connect at once

    def __init__(self, script: ScriptedModel) -> None:
        self.script = script
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End kept-alive connections, so that their threads end too."""
        with self._lock:
            open_now = tuple(self._open)
        for connection in open_now:
            _hang_up(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnected; a fault of the script appears to the client as a dropped connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self._send(_failure(404, f"no such path: {self.path}", None), status=404)
            return
        rows = [
            {"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in self.server.script.models
        ]
        self._send(_json({"object": "list", "data": rows}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path not in {"/v1/chat/completions", "/v1/embeddings"}:
            self._send(_failure(404, f"no such path: {self.path}", None), status=404)
        elif body["model"] not in self.server.script.models:
            message = f"The model `{body['model']}` does not exist"
            self._send(_failure(404, message, "model_not_found"), status=404)
        else:
            self._play(self.server.script.next_step(body, dict(self.headers)), body)

    def _play(self, step: Step, body: dict[str, Any]) -> None:
        match step:
            case str():
                self._send(_completion(Say(step), body))
            case Say():
                self.server.script.closing.wait(step.after_s)
                self._send(_completion(step, body))
            case Fail():
                self._send(_failure(step.status, step.message, step.code), status=step.status, headers=step.headers)
            case Raw():
                self._send(step.content, status=step.status, content_type=step.content_type)
            case Drop():
                self._drop(_completion(Say("this is never read to its end"), body) if step.halfway else b"")
            case Stall():
                self.server.script.closing.wait()
            case _:
                assert_never(step)

    def _send(
        self,
        content: bytes,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._head(status, {"content-type": content_type, "content-length": str(len(content)), **(headers or {})})
        self.wfile.write(content)

    def _drop(self, content: bytes) -> None:
        if content:
            self._head(200, {"content-type": "application/json", "content-length": str(len(content))})
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
        self.close_connection = True
        _hang_up(self.connection)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Log nothing."""


def _asked(script: Callable[[dict[str, Any]], Step], request: dict[str, Any]) -> Step:
    """Return the step of a script function; its own failure becomes an error reply, which the test then shows."""
    try:
        return script(request)
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        return Fail(400, f"the script itself failed: {error!r}")


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # closed by the client already


def _completion(say: Say, body: Mapping[str, Any]) -> bytes:
    message = {"role": "assistant", "content": say.text, **say.message}
    answer: dict[str, Any] = {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": say.finish, "message": message}],
    }
    if say.usage is not None:
        prompt, completion = say.usage
        answer["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
    return _json(answer)


def _failure(status: int, message: str, code: str | None) -> bytes:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return _json({"error": {"message": message, "type": kind, "param": None, "code": code}})


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
