"""Where the replies of an experiment come from: a live model, a cassette, or the set's own queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scenecypher.chat.cassette import Recording, Replaying
from scenecypher.chat.model import Model, Reply, Request, Service, Usage
from scenecypher.errors import InputError

LIVE: Final = "live"
REFERENCE: Final = "reference"


@dataclass(frozen=True, slots=True)
class ReferenceQueryModel:
    """A model that always writes one query, which a person's template made."""

    cypher: str

    def reply(self, request: Request) -> Reply:  # noqa: ARG002 - whatever is asked
        """The query, at no cost."""
        return Reply(self.cypher, Usage(), REFERENCE, source="scripted")


class ModelSource:
    """The models of the samples. `chosen` is LIVE, REFERENCE or a cassette's file; live ones may be recorded.

    Raises InputError where there is no such file, or the one to record exists.
    """

    def __init__(self, chosen: str = LIVE, *, record: str = "") -> None:
        self.chosen = chosen
        if chosen not in {LIVE, REFERENCE} and not Path(chosen).is_file():
            raise InputError(f"{chosen}: there is no such cassette; give a file that --record wrote")
        if record and Path(record).exists():
            raise InputError(
                f"the cassette {record} exists; move it away or choose another file "
                "(a run that is resumed records the rest of its replies in a new one)"
            )
        self._tape = Replaying(Path(chosen)) if chosen not in {LIVE, REFERENCE} else None
        self._record = Path(record) if record else None
        self._recording: Recording | None = None

    @property
    def is_live(self) -> bool:
        """Whether a model is asked now."""
        return self.chosen == LIVE

    def of(self, sample: str, live: Service | None, *, reference: Model) -> Model:
        """The model that one sample is put to; `reference` where no other was chosen. Raises InputError."""
        if self._tape is not None:
            return self._tape.session(sample)
        if live is None:
            return reference
        return self._recorded(live).session(sample)

    def _recorded(self, live: Service) -> Service:
        if self._record is None:
            return live
        if self._recording is None:
            self._recording = Recording(live, self._record)
        return self._recording
