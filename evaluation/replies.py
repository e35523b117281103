"""Sources of an experiment's replies (a live model, a cassette, the set's own queries), their cost; prompts' digest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self

from scenecypher.chat.cassette import Recording, Replaying
from scenecypher.chat.model import Model, Reply, Request, Service, Usage
from scenecypher.errors import InputError

LIVE: Final = "live"
REFERENCE: Final = "reference"


@dataclass(frozen=True, slots=True)
class ReferenceQueryModel:
    """Model that always returns one reference query."""

    cypher: str

    def reply(self, request: Request) -> Reply:  # noqa: ARG002 - whatever is asked
        """Return the query, at no cost."""
        return Reply(self.cypher, Usage(), REFERENCE, source="scripted")


@dataclass(slots=True)
class ModelSource:
    """Source of the samples' models; `choice` is LIVE, REFERENCE or a cassette file. Live replies may be recorded."""

    choice: str = LIVE
    tape: Replaying | None = None
    record: Path | None = None
    _recording: Recording | None = field(default=None, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    @classmethod
    def open(cls, choice: str = LIVE, *, record: str = "") -> Self:
        """Return the source, its cassette read before anything is played.

        Raises InputError if the cassette is missing or can't be read, or if the file to record exists.
        """
        if choice not in {LIVE, REFERENCE} and not Path(choice).is_file():
            raise InputError(f"{choice}: there is no such cassette; give a file that --record wrote")
        if record and Path(record).exists():
            raise InputError(
                f"the cassette {record} exists; move it away or choose another file "
                "(a resumed run records its remaining replies in a new one)"
            )
        tape = Replaying(Path(choice)) if choice not in {LIVE, REFERENCE} else None
        _ = tape and tape.tape
        return cls(choice, tape, Path(record) if record else None)

    @property
    def is_live(self) -> bool:
        """True if live models are asked."""
        return self.choice == LIVE

    @contextmanager
    def model_for(self, sample: str, live: Service | None, *, reference: Model) -> Iterator[Model]:
        """Give the model of one attempt at a sample; `reference` if no other was chosen. Raises InputError.

        If the attempt raises, its replies are returned to the cassette, and none is recorded.
        """
        cassette = self.tape if live is None else self._recording_of(live)
        plain = reference if live is None else live.session(sample)
        with nullcontext(plain) if cassette is None else cassette.attempt(sample) as model:
            yield model

    def _recording_of(self, live: Service) -> Recording | None:
        with self._lock:  # attempts run in threads
            if self._recording is None and self.record is not None:
                self._recording = Recording(live, self.record)
            return self._recording


@dataclass(slots=True)
class MeteredModel:
    """Model that passes requests on and keeps usages, unreadable replies included; for one sample in one thread."""

    model: Model
    replies: list[Reply] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        """Ask the model once."""
        reply = self.model.reply(request)
        self.replies.append(reply)
        return reply

    @property
    def usage(self) -> Usage:
        """Sum of the usages."""
        return sum((reply.usage for reply in self.replies), Usage())

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of the replies, each once."""
        return tuple(dict.fromkeys(reply.source for reply in self.replies))

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, each once."""
        return tuple(dict.fromkeys(reply.model for reply in self.replies))

    @property
    def cost(self) -> dict[str, Any]:
        """Where the replies came from and how many tokens they took, as a sample stores it."""
        return {"sources": self.sources, "models": self.models, "tokens": self.usage.total_tokens}


PROMPTS: Final = ("scenecypher.planner", "scenecypher.retriever")
"""Packages, with their subfolders, that produce the texts shown to models."""
SUFFIXES: Final = (".py", ".md", ".txt", ".json", ".jsonl", ".pddl")
METADATA_KEY: Final = "prompts"
"""Key of the digest in a log's metadata, since a log may be reported after prompts have changed."""


@cache
def prompt_version() -> str:
    """Return the first twelve digits of the digest of all source files that produce prompts."""
    digest = sha256()
    for package in PROMPTS:
        for file in prompt_files(package):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def prompt_files(package: str) -> Iterator[Path]:
    """Yield the files of a package that are in the digest, in order."""
    folder = Path(str(files(package)))
    yield from (file for file in sorted(folder.rglob("*")) if file.name.endswith(SUFFIXES))
