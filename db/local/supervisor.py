"""Supervision of the local server while a process uses it: restarts, its own and other processes'."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from scenecypher.db.local.home import ServerHome
from scenecypher.db.local.server import RESTARTED, Server, Tell, restart, start, status
from scenecypher.errors import DatabaseUnavailable
from scenecypher.settings import Settings
from scenecypher.waiting import waiting_for


class Supervisor:
    """Restarts the local server when it is lost, and waits for restarts; safe to share between threads."""

    def __init__(self, settings: Settings, server: Server, *, tell: Tell) -> None:
        self._settings, self._tell = settings, tell
        self._home, self._uri = ServerHome.of(settings), server.uri
        self._lock = Lock()
        self.pid = server.pid
        """The server's process, as last seen."""

    def restart(self, is_lost: Callable[[], bool]) -> bool:
        """Restart the server if `is_lost` holds of the one that runs now; False if there was no need.

        Raises DatabaseUnavailable, and what `is_lost` raises.
        """
        state = self._home.load_state()
        if state is None or state.pid is None:
            return False
        return restart(self._settings, pid=state.pid, is_lost=is_lost, tell=self._tell)

    def ensure_running(self) -> bool:
        """Start the server if it does not run, as a first connection does; False if it now listens elsewhere.

        Raises DatabaseUnavailable.
        """
        with self._lock:
            if status(self._settings) is not None:
                return True
            server = start(self._settings, tell=self._tell)
            self.pid = server.pid
            return server.uri == self._uri

    def await_restart(self, since: int) -> bool:
        """Wait until the successor of process `since` answers; False if nobody restarted that one.

        A server that was stopped by a command is not started again. Raises DatabaseUnavailable if the successor does
        not start, or listens at another port.
        """
        with self._lock:
            if self.pid != since:
                return True
            state = self._home.load_state()
            if state is None or not (state.restarting or state.pid not in {None, since}):
                return False
            self._tell("the local server is being restarted; waiting until it answers, then going on…")
            with waiting_for(RESTARTED):
                server = start(self._settings, tell=self._tell)
            if server.uri != self._uri:
                msg = f"the local server was restarted, and now listens at {server.uri}; run the command again"
                raise DatabaseUnavailable(msg)
            self.pid = server.pid
            return True
