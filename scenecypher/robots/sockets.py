"""Messages over TCP, a line each: the planner connects, and connects again after a break; the robot listens."""

from __future__ import annotations

import socket
import time
import weakref
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Final
from urllib.parse import urlsplit

from scenecypher.errors import InputError
from scenecypher.robots.desk import Robot, RobotDesk
from scenecypher.robots.messages import MAX_BYTES, decode_request, encode

CONNECT_S: Final = 2.0
CHUNK: Final = 65_536


def address_of(url: str) -> tuple[str, int]:
    """Return host and port of a URL such as ``tcp://robot:7070``. Raises InputError."""
    try:
        found = urlsplit(url)
        host, port = found.hostname, found.port
    except ValueError:
        host, port = None, None
    if host is None or port is None or found.scheme != "tcp":
        raise InputError(f"{url!r} is no address of a robot; give one such as tcp://localhost:7070")
    return host, port


class SocketTransport:
    """The planner's end: one connection at a time, closed with the object.

    A line that can't be sent now is lost: who needs an answer sends it again.
    """

    def __init__(self, url: str) -> None:
        self._address = address_of(url)
        self._open: list[socket.socket] = []
        weakref.finalize(self, _close, self._open)
        self._read = bytearray()

    def send(self, line: bytes) -> None:
        """Send a line, over a new connection if there is none."""
        try:
            if not self._open:
                self._open.append(socket.create_connection(self._address, timeout=CONNECT_S))
            self._open[0].settimeout(CONNECT_S)
            self._open[0].sendall(line)
        except OSError:
            self.close()

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next line; None if none came in time, or the connection broke. Waits in both cases."""
        ends = time.monotonic() + timeout_s
        while b"\n" not in self._read:
            left = ends - time.monotonic()
            if left <= 0 or not self._receive_some(left):
                return None
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        return line

    def close(self) -> None:
        """Close the connection; the next line opens another."""
        _close(self._open)
        self._read.clear()

    def _receive_some(self, timeout_s: float) -> bool:
        if not self._open:
            time.sleep(timeout_s)
            return False
        try:
            self._open[0].settimeout(max(timeout_s, 0.001))
            read = self._open[0].recv(CHUNK)
        except TimeoutError:
            return False
        except OSError:
            read = b""
        self._read += read
        if read and len(self._read) <= MAX_BYTES:
            return True
        self.close()
        time.sleep(timeout_s)
        return False


def serve(robot: Robot, host: str = "127.0.0.1", port: int = 7070) -> None:
    """Answer planners until the process ends; whoever reaches the port commands the robot."""
    with RobotServer(robot, host, port) as server:
        server.serve_forever()


class RobotServer(ThreadingTCPServer):
    """The robot's end: one desk for all connections, so that a planner that comes back finds its request."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, robot: Robot, host: str, port: int) -> None:
        self.desk = RobotDesk(robot)
        super().__init__((host, port), _Connection)


class _Connection(StreamRequestHandler):
    server: RobotServer

    def handle(self) -> None:
        with suppress(OSError):
            while line := self.rfile.readline(MAX_BYTES):
                with suppress(InputError):  # as good as lost
                    self.wfile.write(encode(self.server.desk.answer(decode_request(line))))


def _close(connections: list[socket.socket]) -> None:
    while connections:
        connections.pop().close()
