"""The guard: a token that counts once, this host alone, changes from own pages alone, and headers on every answer."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from scenecypher.ui.guard import HEADERS, Guard, TokenGuard

HOST = "127.0.0.1:8765"
HERE = f"http://{HOST}"


def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{request.method} {request.url.path}")


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=[Route("/{path:path}", echo, methods=["GET", "POST"])])
    return TestClient(Guard(app, host=HOST, token="right"), base_url=HERE)


def test_a_token_counts_once_and_the_cookie_from_then_on(client: TestClient) -> None:
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    welcome = client.get("/home?scene=a&token=right")
    assert (welcome.status_code, welcome.headers["refresh"]) == (200, "0; url=/home?scene=a")
    assert "HttpOnly" in welcome.headers["set-cookie"]
    assert "SameSite=Strict" in welcome.headers["set-cookie"]
    assert client.get("/home").text == "GET /home"
    client.cookies.clear()
    assert client.get("/?token=right").status_code == 403
    assert "scenecypher ui" in client.get("/?token=right").text


def test_two_tabs_share_the_cookie(client: TestClient) -> None:
    client.get("/?token=right")
    assert [client.get("/a").text, client.get("/b").text] == ["GET /a", "GET /b"]
    assert client.get("/?token=right").text == "GET /", "a reload of the first address"


def test_a_browser_that_is_in_gets_a_link_for_another(client: TestClient) -> None:
    assert client.post("/link", headers={"origin": HERE}).status_code == 403
    client.get("/?token=right")
    assert client.post("/link").status_code == 403, "from another origin"
    told = client.post("/link", headers={"origin": HERE}).text
    link = told.split()[-1]
    assert link.startswith(f"{HERE}/?token=")
    client.cookies.clear()
    assert client.get(link).status_code == 200
    client.cookies.clear()
    assert client.get(link).status_code == 403, "it counts once"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1:1", "127.0.0.1", ""])
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    client.get("/?token=right")
    assert client.get("/", headers={"host": host}).status_code == 421
    assert client.get("/", headers={"host": "localhost:8765", "cookie": "x=y"}).status_code == 403


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", f"https://{HOST}"])
def test_a_change_from_another_origin_is_refused(client: TestClient, origin: str | None) -> None:
    client.get("/?token=right")
    given = {} if origin is None else {"origin": origin}
    assert client.post("/act", headers=given).status_code == 403
    assert client.post("/act", headers={"origin": HERE}).text == "POST /act"


@pytest.mark.parametrize("cookie", ["scenecypher_8765=guess", "scenecypher_8765=", 'a="b', "scenecypher_8765=\xff"])
def test_a_wrong_cookie_is_refused(client: TestClient, cookie: str) -> None:
    assert client.get("/", headers=[(b"cookie", cookie.encode("latin-1"))]).status_code == 403


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example"])
def test_the_welcome_leads_nowhere_else(client: TestClient, path: str) -> None:
    welcome = client.get(f"{HERE}{path}?token=right")
    assert not welcome.headers["refresh"].removeprefix("0; url=").startswith(("//", "/\\"))


def test_every_answer_has_the_headers(client: TestClient) -> None:
    refused, welcome, page = client.get("/"), client.get("/?token=right"), client.get("/x")
    for answer in (refused, welcome, page):
        assert {name: answer.headers[name] for name in HEADERS} == dict(HEADERS)
    assert "unsafe-inline" not in HEADERS["content-security-policy"]


@pytest.fixture
def program() -> TestClient:
    app = Starlette(routes=[Route("/{path:path}", echo, methods=["GET", "POST"])])
    return TestClient(TokenGuard(app, host=HOST, token="right"), base_url=HERE)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Basic right"}, 401),
        ({"authorization": "Bearer r\xefght"}, 401),
        ({"authorization": "Bearer right", "host": "evil.example:8765"}, 421),
        ({"authorization": "Bearer right", "origin": "http://evil.example"}, 403),
        ({"authorization": "Bearer right", "origin": "null"}, 403),
        ({"authorization": "Bearer right", "origin": HERE}, 200),
        ({"authorization": "bearer right", "host": "localhost:8765"}, 200),
        ({"authorization": "Bearer right"}, 200),
    ],
)
def test_programs_bear_the_token_with_each_request(program: TestClient, given: dict[str, str], status: int) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    for _ in range(2):
        answer = program.post("/mcp", headers=headers)
        assert answer.status_code == status
        assert answer.headers["cache-control"] == "no-store"
    assert program.get("/mcp?token=right").status_code == 401


@pytest.mark.parametrize("path", ["/a%0d%0aset-cookie:%20b=c", "/home%0A", "/%C3%BC%20x;url=http:%2F%2Felsewhere"])
def test_a_link_with_any_path_signs_in_and_names_no_other_header(client: TestClient, path: str) -> None:
    """Text of a request in an answer's header as it came: a line end crashed the answer and used the token up."""
    found = client.get(f"{path}?token=right")
    assert found.status_code == 200
    place = found.headers["refresh"].removeprefix("0; url=")
    assert unquote(place) == unquote(path)
    assert not set(place) & set("\r\n; ")
    assert client.get(path).status_code != 403, "the cookie counts"


@pytest.mark.parametrize("guard", [Guard, TokenGuard])
@pytest.mark.parametrize(("kind", "sent"), [("websocket", ["websocket.close"]), ("webtransport", [])])
def test_what_is_no_request_is_not_waved_through(guard: type[Guard | TokenGuard], kind: str, sent: list[str]) -> None:
    """A check of one protocol, and an open door for every other."""
    reached, said = list[str](), list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["type"])

    async def receive() -> Message:
        return {"type": f"{kind}.connect"}

    async def send(message: Message) -> None:
        said.append(message["type"])

    behind = guard(app, host=HOST, token="right")
    asyncio.run(behind({"type": kind, "path": "/", "headers": [], "query_string": b""}, receive, send))
    asyncio.run(behind({"type": "lifespan"}, receive, send))
    assert (reached, said) == (["lifespan"], sent)
