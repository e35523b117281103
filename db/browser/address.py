"""The address of Neo4j Browser with the server, the user and a query filled in."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

HTTP_PORT: Final = 7474
HTTPS_PORT: Final = 7473
DEFAULT_DATABASE: Final = "neo4j"


def browser_of(uri: str) -> str:
    """Return the usual address of the Browser that a server brings, by the address of its Bolt port."""
    parts = urlsplit(uri)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    is_encrypted = parts.scheme.endswith(("+s", "+ssc"))
    return f"https://{host}:{HTTPS_PORT}/browser/" if is_encrypted else f"http://{host}:{HTTP_PORT}/browser/"


def filled_in(browser: str, *, uri: str, username: str, database: str = DEFAULT_DATABASE, text: str = "") -> str:
    """Return Browser's address with server, user and database filled in, and `text` in its editor if there is any."""
    parts = urlsplit(uri)
    server = urlunsplit((parts.scheme, f"{quote(username, safe='')}@{parts.netloc}", "", "", ""))
    given = {"dbms": server}
    if database != DEFAULT_DATABASE:
        given["db"] = database
    if text:
        given |= {"cmd": "edit", "arg": text}
    # urlencode's own quoting writes a blank as +, which Browser reads in some places only.
    return f"{browser}?{urlencode(given, quote_via=quote, safe='')}"
