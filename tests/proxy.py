"""A TCP proxy on loopback that loses a COMMIT, or the answer to it, or sends answers twice, when told to."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from scenecypher.db.store.connection import Address

HOST: Final = "127.0.0.1"
COMMIT: Final = b"\x00\x02\xb0\x12\x00\x00"
"""The Bolt message as it travels: two bytes of length, a structure without fields, the end mark."""
RUN: Final = b"\xb3\x10"
"""The beginning of a Bolt message with a statement."""

QUIET_S: Final = 0.5
"""An answer of several messages, as to a statement that is a transaction of its own, is over after such a silence."""

Lost = Literal["answer", "request"]


class Proxy:
    """Passes bytes on between clients and one server, until it is told to lose something."""

    def __init__(self, target: tuple[str, int], watched: bytes = COMMIT, *, tls: ssl.SSLContext | None = None) -> None:
        self.target, self.watched, self._tls = target, watched, tls
        self.lost = 0
        """Return the number of COMMITs, or other watched messages, cut so far."""
        self.round_trips = 0
        """Return how often a client sent something and was answered, its greeting included."""
        self.doubles: Callable[[], bool] = lambda: False
        """Called for each piece of an answer to a statement: whether it is sent twice."""
        self._to_lose: list[Lost] = []
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listening = socket.create_server((HOST, 0))

    @property
    def port(self) -> int:
        """Return the address for clients."""
        port: int = self._listening.getsockname()[1]
        return port

    def lose(self, what: Lost, *, times: int = 1) -> None:
        """Cut the connections of the next COMMITs.

        `answer`: once the server has answered, the answer dropped, so the commit was done; `request`: before the server
        sees it, so it never was. The client can't tell one from the other.
        """
        with self._lock:
            self._to_lose += [what] * times

    def refuse(self) -> None:
        """Accept no further connections."""
        _hang_up(self._listening)
        self._listening.close()

    def stop(self) -> None:
        """Cut all connections and accept no others, as a server that stopped."""
        self.refuse()
        with self._lock:
            for end in self._open:
                _hang_up(end)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        _hang_up(self._listening)
        with self._lock:
            sockets = [self._listening, *self._open]
        for end in sockets:
            _hang_up(end)
        for thread in self._threads:
            thread.join(timeout=10)
        for end in sockets:
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self._tls is not None:
                    try:
                        client = self._tls.wrap_socket(client, server_side=True)
                    except OSError:  # it does not trust the certificate
                        client.close()
                        continue
                _Link(self, client, socket.create_connection(self.target))

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def adopt(self, link: _Link) -> None:
        """Remember a link's sockets, to close them, and start its two directions."""
        with self._lock:
            self._open += [link.client, link.server]
        self._start(link.upstream)
        self._start(link.downstream)

    def next_loss(self) -> Lost | None:
        """Return the part of the current COMMIT to drop."""
        with self._lock:
            if not self._to_lose:
                return None
            self.lost += 1
            return self._to_lose.pop(0)


class _Link:
    """One client's connection and ours to the server."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self.proxy, self.client, self.server = proxy, client, server
        self.mute = False
        self.is_asked = self.is_greeted = False
        proxy.adopt(self)

    def upstream(self) -> None:
        """From the client to the server, with an eye on COMMIT."""
        tail = b""
        with suppress(OSError):
            while data := self.client.recv(65536):
                loss = self.proxy.next_loss() if self.proxy.watched in tail + data else None
                if loss == "request":
                    break
                self.mute = loss == "answer"
                self.is_asked = True
                self.is_greeted |= RUN in data
                self.server.sendall(data)
                tail = data[-len(self.proxy.watched) + 1 :]
        if not self.mute:
            self._end()

    def downstream(self) -> None:
        """From the server to the client; an answer that is to be lost is awaited whole, and then ends the link."""
        with suppress(OSError):
            while data := self.server.recv(65536):
                self.proxy.round_trips += self.is_asked
                self.is_asked = False
                if self.mute:
                    self.server.settimeout(QUIET_S)
                else:
                    self.client.sendall(2 * data if self.is_greeted and self.proxy.doubles() else data)
        self._end()

    def _end(self) -> None:
        _hang_up(self.client)
        _hang_up(self.server)


def _hang_up(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(address: Address, watched: bytes = COMMIT) -> Iterator[tuple[Proxy, Address]]:
    """A proxy before a server, and the address at which the server is reached through it."""
    place = urlsplit(address.uri)
    with Proxy((place.hostname or HOST, place.port or 7687), watched) as proxy:
        yield proxy, replace(address, uri=f"bolt://{HOST}:{proxy.port}")
