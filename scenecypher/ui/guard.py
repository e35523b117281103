"""The guard of the page's server: who may ask, from where, and what a browser may do with an answer."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, quote, urlencode

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
OTHER_HOST: Final = "This server answers at its own address only."
NO_TOKEN: Final = "Send the token that `scenecypher mcp --http` printed as the header Authorization: Bearer TOKEN."  # noqa: S105
NO_ACCESS: Final = (
    "Open the address that `scenecypher ui` printed; its token counts once. For another browser, press "
    '"another browser" on a page of the first, or start the command again.'
)
LINK: Final = "/link"
"""The path that a browser asks for an address for another."""


class _Guarded:
    """An application whose requests for another host (DNS rebinding) are refused. Safe to share between threads."""

    def __init__(self, app: ASGIApp, *, host: str, token: str) -> None:
        self._app, self._host = app, host
        self._token: str | None = token
        self._cookie = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it; a websocket, which bears no token, is turned away."""
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            if headers.get("host") in _hosts(self._host):
                await self._admit(scope, headers, receive, send)
            else:
                await _send(send, 421, OTHER_HOST)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    async def _admit(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        raise NotImplementedError


class Guard(_Guarded):
    """An application behind a token, which the first request exchanges for a cookie.

    Changes from another origin and requests without the cookie are refused.
    """

    async def _admit(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if self._is_known(headers):
            return await self._answer(scope, headers, receive, send)
        if self._takes(query.pop(TOKEN, [""])[0]):
            rest = f"?{urlencode(query, doseq=True)}" if query else ""
            return await self._welcome(send, _path(scope["path"]) + rest)
        return await _send(send, 403, NO_ACCESS)

    async def _answer(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        """Answer a browser that is in."""
        if scope["method"] == "POST" and headers.get("origin") not in _origins(self._host):
            return await _send(send, 403, "Changes are taken from this server's own pages only.")
        if scope["method"] == "POST" and scope["path"] == LINK:
            return await _send(send, 200, self._link())
        return await self._app(scope, receive, _with_headers(send))

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._name())
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._cookie.encode())

    def _takes(self, token: str) -> bool:
        """Return True for the token, once."""
        expected = self._token
        if expected is None or not secrets.compare_digest(token.encode(), expected.encode()):
            return False
        self._token = None
        return True

    def _link(self) -> str:
        """Return an address for another browser, in words; the one before it that nobody opened counts no more."""
        self._token = secrets.token_urlsafe(24)
        return f"For one other browser, once: http://{self._host}/?{urlencode({TOKEN: self._token})}"

    def _name(self) -> str:
        """Return the cookie's name: cookies know no port, and two servers may run."""
        return f"{COOKIE}_{self._host.rpartition(':')[2]}"

    async def _welcome(self, send: Send, path: str) -> None:
        cookie = f"{self._name()}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
        # A redirect would be without the cookie where the address was opened from another page: so the page reloads.
        head = [(b"set-cookie", cookie.encode()), (b"refresh", f"0; url={path}".encode())]
        await _send(send, 200, "Welcome…", head)


class TokenGuard(_Guarded):
    """An application for programs, behind a token that each request bears.

    Requests from a page of another origin and without the token are refused.
    """

    async def _admit(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        if headers.get("origin", f"http://{self._host}") not in _origins(self._host):
            return await _send(send, 403, "Pages of other origins may not use this server.")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.casefold() != "bearer" or not secrets.compare_digest(token.encode(), (self._token or "").encode()):
            return await _send(send, 401, NO_TOKEN, [(b"www-authenticate", b"Bearer")])
        return await self._app(scope, receive, _with_headers(send))


def _hosts(host: str) -> tuple[str, str]:
    return host, f"localhost:{host.rpartition(':')[2]}"


def _origins(host: str) -> frozenset[str]:
    return frozenset(f"http://{it}" for it in _hosts(host))


def _path(path: str) -> str:
    """Return a path of this server, quoted: never one that a browser would take for another host, or another header."""
    return "/" + quote(path.lstrip("/\\"))


async def _send(send: Send, status: int, text: str, head: Sequence[tuple[bytes, bytes]] = ()) -> None:
    plain = (b"content-type", b"text/plain; charset=utf-8")
    await _with_headers(send)({"type": "http.response.start", "status": status, "headers": [*head, plain]})
    await send({"type": "http.response.body", "body": text.encode() + b"\n"})


def _with_headers(send: Send) -> Send:
    """Return a sender that adds the headers of every answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *ours]}
        await send(message)

    return sending
