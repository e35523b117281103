"""The folder of one local server: where its data, settings, password, log and state are."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from scenecypher.settings import Settings


class State(BaseModel):
    """What the last start left for the next: its process, its ports, and whether it came to answer.

    `restarting` is set from before a server is ended that is lost until its successor answers.
    """

    model_config = ConfigDict(frozen=True)

    pid: int | None
    bolt: int
    http: int
    ready: bool = False
    restarting: bool = False


@dataclass(frozen=True, slots=True)
class Home:
    """Paths below `SCENECYPHER_HOME`, which is private to its user."""

    root: Path

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The home that the settings name, as an absolute path."""
        return cls(settings.home.expanduser().resolve())

    @property
    def neo4j(self) -> Path:
        """What Neo4j calls its home: data, logs, conf."""
        return self.root / "neo4j"

    @property
    def conf(self) -> Path:
        """The folder of `neo4j.conf`, written anew at each start."""
        return self.neo4j / "conf"

    @property
    def log(self) -> Path:
        """What the server says of its starts, stops and errors."""
        return self.neo4j / "logs" / "neo4j.log"

    @property
    def console(self) -> Path:
        """What Java itself prints: a server that ends without a word in its log tells why here."""
        return self.neo4j / "logs" / "console.log"

    @property
    def arguments(self) -> Path:
        """The options of the Java machine, one a line."""
        return self.neo4j / "conf" / "java.args"

    @property
    def password_file(self) -> Path:
        """The generated password, readable by its owner alone."""
        return self.root / "password"

    @property
    def lock_file(self) -> Path:
        """Held while one process starts or stops the server."""
        return self.root / "lock"

    @property
    def state_file(self) -> Path:
        """The `State` as JSON."""
        return self.root / "server.json"

    def make(self) -> None:
        """Create the folders, the home readable by its owner alone."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.conf, self.log.parent, self.neo4j / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    def state(self) -> State | None:
        """What the last start left; None where there was none, or its file is garbled."""
        try:
            return State.model_validate_json(self.state_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def keep(self, state: State) -> None:
        """Leave `state` for the next command, whole or not at all."""
        write_private(self.state_file, state.model_dump_json())

    def password(self) -> str:
        """The password, generated at first asking."""
        if not self.password_file.exists():
            write_private(self.password_file, secrets.token_hex(20))
        return self.password_file.read_text(encoding="utf-8").strip()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
