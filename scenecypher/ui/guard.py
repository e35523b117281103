"""The guard of the page's server: who may ask, from where, and what a browser may do with an answer."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlencode

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "scenecypher"
TOKEN: Final = "token"  # noqa: S105 - the name of the field, not its value
BODY_BYTES: Final = 100_000
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # With `no-referrer`, browsers send "null" as the origin of a form's request, which then could not be checked.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
NO_ACCESS: Final = "Open the address that `scenecypher ui` printed; its token counts once. Start it again for another."


class Guard:
    """An application behind a token, which the first request exchanges for a cookie. Safe to share between threads.

    Requests for another host (DNS rebinding), changes from another origin and requests without the cookie are refused.
    """

    def __init__(self, app: ASGIApp, *, host: str, token: str) -> None:
        self._app, self._host = app, host
        self._token: str | None = token
        self._cookie = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if headers.get("host") not in self._hosts():
            return await _refuse(send, 421, "This server answers at its own address only.")
        if self._is_known(headers):
            if scope["method"] == "POST" and not self._is_own_origin(headers):
                return await _refuse(send, 403, "Changes are taken from this server's own pages only.")
            return await self._app(scope, receive, _with_headers(send))
        if self._takes(query.pop(TOKEN, [""])[0]):
            rest = f"?{urlencode(query, doseq=True)}" if query else ""
            return await self._welcome(send, scope["path"] + rest)
        return await _refuse(send, 403, NO_ACCESS)

    def _hosts(self) -> tuple[str, str]:
        return self._host, f"localhost:{self._host.rpartition(':')[2]}"

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._name())
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._cookie.encode())

    def _is_own_origin(self, headers: Mapping[str, str]) -> bool:
        return headers.get("origin") in {f"http://{host}" for host in self._hosts()}

    def _takes(self, token: str) -> bool:
        """Return True for the token, once."""
        expected = self._token
        if expected is None or not secrets.compare_digest(token.encode(), expected.encode()):
            return False
        self._token = None
        return True

    def _name(self) -> str:
        """Return the cookie's name: cookies know no port, and two servers may run."""
        return f"{COOKIE}_{self._host.rpartition(':')[2]}"

    async def _welcome(self, send: Send, path: str) -> None:
        cookie = f"{self._name()}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
        # A redirect would be without the cookie where the address was opened from another page: so the page reloads.
        head = [(b"set-cookie", cookie.encode()), (b"refresh", f"0; url={_path(path)}".encode())]
        await _send(send, 200, "Welcome…", head)


def _path(path: str) -> str:
    """Return a path of this server: never one that a browser would take for another host."""
    return "/" + path.lstrip("/\\")


async def _refuse(send: Send, status: int, text: str) -> None:
    await _send(send, status, text, [])


async def _send(send: Send, status: int, text: str, head: list[tuple[bytes, bytes]]) -> None:
    start = {"type": "http.response.start", "status": status, "headers": head + _plain()}
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": text.encode() + b"\n"})


def _plain() -> list[tuple[bytes, bytes]]:
    return [(b"content-type", b"text/plain; charset=utf-8")]


def _with_headers(send: Send) -> Send:
    """Return a sender that adds the headers of every answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *ours]}
        await send(message)

    return sending
