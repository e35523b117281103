"""Supervision of the local server while a process uses it: restarts, its own and other processes'."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from scenecypher.db.local.home import ServerHome, ServerState
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
            return self._go_on(start(self._settings, tell=self._tell))

    def await_restart(self, since: int) -> bool:
        """Wait until the successor of process `since` answers, and start one if that process was killed or crashed.

        False if that process runs, or a command stopped it. Raises DatabaseUnavailable if the successor does not start,
        or listens at another port.
        """
        with self._lock:
            if self.pid != since:
                return True
            state = self._home.load_state()
            if state is None or not (self._has_successor(state, since) or self._has_died(state)):
                return False
            self._tell("the local server is being restarted; waiting until it answers, then going on…")
            with waiting_for(RESTARTED):
                server = start(self._settings, tell=self._tell)
            if not self._go_on(server):
                msg = f"the local server was restarted, and now listens at {server.uri}; run the command again"
                raise DatabaseUnavailable(msg)
            return True

    @staticmethod
    def _has_successor(state: ServerState, since: int) -> bool:
        return state.restarting or state.pid not in {None, since}

    def _has_died(self, state: ServerState) -> bool:
        return state.pid is not None and not state.ending and status(self._settings) is None

    def _go_on(self, server: Server) -> bool:
        """Take the server that runs now for ours, unless it listens elsewhere."""
        if server.uri != self._uri:
            return False
        self.pid = server.pid
        return True
