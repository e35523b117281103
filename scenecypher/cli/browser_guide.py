"""A guide for Neo4j Browser with the queries of a scene, served on this machine while somebody reads it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Final

SLIDE: Final = """<slide class="row-fluid"><div class="col-sm-12">
<h3>{title}</h3>
<figure><pre mode="cypher" class="pre-scrollable programlisting cm-s-neo code runnable">{query}</pre></figure>
</div></slide>
"""
PAGE: Final = """<article class="guide">
<title>{title}</title>
<carousel class="deck container-fluid">
{slides}</carousel>
</article>
"""


def guide_page(title: str, queries: Iterable[tuple[str, str]]) -> str:
    """Return a guide as Browser shows it: a slide for each query, given as (title, query)."""
    slides = "".join(SLIDE.format(title=escape(name), query=escape(query)) for name, query in queries)
    return PAGE.format(title=escape(title), slides=slides)


def guide_server(page: str, *, browser_origin: str) -> tuple[ThreadingHTTPServer, str]:
    """Return a server of one guide that pages of Browser may read, and its address, which nobody else knows.

    Browser takes guides from the host name ``localhost``, unless the server's settings say otherwise.
    """
    path = f"/{secrets.token_urlsafe(16)}.html"

    class Guide(_OnePage):
        served = (path, page.encode(), browser_origin)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Guide)
    return server, f"http://localhost:{server.server_port}{path}"


class _OnePage(BaseHTTPRequestHandler):
    served: ClassVar[tuple[str, bytes, str]]

    def do_OPTIONS(self) -> None:
        """Allow the request that Browser is about to send."""
        self._answer(204, b"")

    def do_GET(self) -> None:
        """Answer with the page, at its address only."""
        path, page, _ = self.served
        self._answer(*((200, page) if secrets.compare_digest(self.path.encode(), path.encode()) else (404, b"")))

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", self.served[2])
        self.send_header("Access-Control-Allow-Headers", "*")  # which ones Browser adds differs
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        """Log nothing."""
