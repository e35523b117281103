"""The folder of one local server: its data, settings, password, log and state."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from scenecypher.errors import DatabaseUnavailable
from scenecypher.files import write_file
from scenecypher.settings import Settings


class ServerState(BaseModel):
    """Record of the last start: process id, ports, and if the server has answered.

    `restarting` is set from before a server is ended that is lost until its successor answers, `ending` while it ends.
    """

    model_config = ConfigDict(frozen=True)

    pid: int | None
    bolt: int
    http: int
    ready: bool = False
    restarting: bool = False
    ending: bool = False


@dataclass(frozen=True, slots=True)
class ServerHome:
    """Paths below `SCENECYPHER_HOME`, which only its user can read."""

    root: Path

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the home of the settings, as an absolute path."""
        return cls(settings.home.expanduser().resolve())

    @property
    def neo4j(self) -> Path:
        """Neo4j's home: data, logs, conf."""
        return self.root / "neo4j"

    @property
    def conf(self) -> Path:
        """The folder of `neo4j.conf`, overwritten at each start."""
        return self.neo4j / "conf"

    @property
    def log(self) -> Path:
        """The server's log of starts, stops and errors."""
        return self.neo4j / "logs" / "neo4j.log"

    @property
    def console(self) -> Path:
        """Java's console output: the cause if the server ends without a line in its log."""
        return self.neo4j / "logs" / "console.log"

    @property
    def arguments(self) -> Path:
        """The options of the Java machine, one per line."""
        return self.neo4j / "conf" / "java.args"

    @property
    def password_file(self) -> Path:
        """The generated password, readable by its owner only."""
        return self.root / "password"

    @property
    def lock_file(self) -> Path:
        """The lock held while a process starts or stops the server."""
        return self.root / "lock"

    @property
    def state_file(self) -> Path:
        """The `ServerState` as JSON."""
        return self.root / "server.json"

    def create(self) -> None:
        """Create the folders; only the owner can read the home."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.root.chmod(0o700)  # it may have been there
        for folder in (self.conf, self.log.parent, self.neo4j / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    def load_state(self) -> ServerState | None:
        """Return the state of the last start; None if there was none or its file is malformed."""
        try:
            return ServerState.model_validate_json(self.state_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def save_state(self, state: ServerState) -> None:
        """Write `state` atomically for the next command."""
        write_file(self.state_file, state.model_dump_json(), mode=0o600)

    def create_password(self) -> None:
        """Generate the password of a new database."""
        if not self.password_file.exists():
            write_file(self.password_file, secrets.token_hex(20), mode=0o600)

    def password(self) -> str:
        """Return the password. Raises DatabaseUnavailable if its file is gone."""
        try:
            return self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise DatabaseUnavailable(
                f"the password of the local server is gone; put it back into {self.password_file}, "
                f"or move {self.neo4j / 'data'} away"
            ) from None
