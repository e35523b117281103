"""The results of tools: bounded, with a schema, and with a text for models that read no structure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field

from scenecypher.wording import change_line, counted, event_times, is_dense

if TYPE_CHECKING:
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.history import Event
    from scenecypher.planner.actions.simulator import CommittedAction
    from scenecypher.planner.perception.look import CommittedLook
    from scenecypher.readable import QueryResult

TEXT_LENGTH: Final = 40_000
"""Characters of a text at most; what is left off is counted."""
ROWS_LENGTH: Final = 100_000
"""Characters of a query's rows at most, as JSON."""
CHANGES_SHOWN: Final = 200
SCENES_SHOWN: Final = 200


class Result(BaseModel):
    """The result of a tool."""

    model_config = ConfigDict(frozen=True)

    def text(self) -> str:
        """Return the result for a model that reads text."""
        return self.model_dump_json(exclude_none=True)


class TextResult(Result):
    """A text about a scene at a version."""

    version: int
    content: str
    left_off: int = Field(default=0, description="lines that are left off; ask for a part, such as one room")

    @classmethod
    def of(cls, version: int, text: str) -> Self:
        """Return the text, without the last lines if it is too long."""
        if len(text) <= TEXT_LENGTH:
            return cls(version=version, content=text)
        shown = text[:TEXT_LENGTH].rpartition("\n")[0] or text[:TEXT_LENGTH]
        return cls(version=version, content=shown, left_off=text[len(shown) :].count("\n") or 1)

    def text(self) -> str:
        """Return the text itself, and how much of it is left off."""
        more = f"\n… and {counted(self.left_off, 'line')} more; ask for a part of it" if self.left_off else ""
        return self.content + more


class SceneFacts(Result):
    """One scene."""

    name: str
    role: str = Field(description="world, or belief: what a robot has seen of a world")
    vocabulary: str = Field(description="names the actions that are possible there")
    version: int
    nodes: int
    relations: int


class SceneList(Result):
    """The scenes, by name."""

    scenes: list[SceneFacts]
    more: int = Field(default=0, description="scenes that are left off; give a part of their names")

    @classmethod
    def of(cls, infos: Sequence[SceneInfo]) -> Self:
        """Return the first SCENES_SHOWN scenes."""
        shown = [SceneFacts.model_validate(it, from_attributes=True) for it in infos[:SCENES_SHOWN]]
        return cls(scenes=shown, more=max(0, len(infos) - SCENES_SHOWN))


class Rows(Result):
    """The rows of a query at one version of the scene."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: str | None = Field(default=None, description="why there are no more rows, if there are")
    version: int
    hints: list[str] = Field(default=[], description="what in the query matches nothing, if nothing was found")

    @classmethod
    def of(cls, found: QueryResult) -> Self:
        """Return the first rows, ROWS_LENGTH characters at most."""
        rows: list[list[Any]] = []
        left = ROWS_LENGTH
        for row in found.rows:
            left -= len(json.dumps(row, ensure_ascii=False))
            if left < 0:
                break
            rows.append([*row])
        is_cut = len(rows) < len(found.rows)
        cut = f"the first {counted(len(rows), 'row')} of {len(found.rows):,}; ask for less" if is_cut else None
        why, hints = cut or found.truncated, [*found.hints]
        return cls(columns=[*found.columns], rows=rows, truncated=why, version=found.version, hints=hints)


class Changes(Result):
    """Changes of a scene, a line each; those of CLOSE, which relates almost everything, are only counted."""

    changes: list[str]
    more: int = Field(default=0, description="changes that are not shown")

    @staticmethod
    def lines(delta: Delta, before: Sequence[str] = ()) -> dict[str, Any]:
        """Return the fields `changes` and `more` of a Delta.

        Together with the lines `before` they are CHANGES_SHOWN at most, and TEXT_LENGTH characters.
        """
        shown: list[str] = []
        left = TEXT_LENGTH - sum(map(len, before))
        for change in islice((it for it in delta.changes if not is_dense(it)), CHANGES_SHOWN - len(before)):
            line = change_line(change)
            left -= len(line)
            if left < 0:
                break
            shown.append(line)
        return {"changes": shown, "more": len(delta) - len(shown)}


class Difference(Changes):
    """The changes that lead from one state to another."""

    before: str
    after: str


class ActedStep(Changes):
    """One committed action; `because` is the reason if it was inserted by rule."""

    action: str
    version: int
    because: str | None = None
    seen: list[str] = []

    @classmethod
    def of(cls, step: CommittedAction) -> Self:
        """Return a step of the simulator."""
        told = {name: getattr(step, name) for name in ("action", "version", "because", "seen")}
        return cls(**told, **cls.lines(step.delta))


class Done(Result):
    """The committed actions, the requested one last."""

    version: int = Field(description="the scene's version now")
    steps: list[ActedStep]

    @classmethod
    def of(cls, steps: Sequence[CommittedAction]) -> Self:
        """Return the steps of an action."""
        return cls(version=steps[-1].version, steps=[*map(ActedStep.of, steps)])


class HistoryEvent(Changes):
    """One commit of a scene's history."""

    version: int
    at: datetime = Field(description="by the server's clock")
    scene_time: datetime | None = Field(
        default=None, description="by the scene's own clock, if it had one then; queries of the past tell this time"
    )
    actor: str
    action: str
    kind: str = Field(description="act, undo, redo, or declare")
    undone: bool


class HistoryEvents(Result):
    """Events of a scene, oldest first."""

    version: int = Field(description="the scene's version now")
    events: list[HistoryEvent]

    @classmethod
    def of(cls, version: int, events: Sequence[Event], undone: frozenset[int]) -> Self:
        """Return the events; `undone` are the versions not in effect. The latest events' changes are shown first."""
        shown: list[HistoryEvent] = []
        lines: list[str] = []
        for event in reversed(events):
            told = {name: getattr(event, name) for name in ("version", "actor", "action", "kind")}
            told |= event_times(event) | Changes.lines(event.delta, lines)
            shown.append(HistoryEvent(**told, undone=event.version in undone))
            lines += shown[-1].changes
        return cls(version=version, events=shown[::-1])


class Undone(Changes):
    """What an undo changed."""

    version: int


class Finding(Result):
    """What a look says of one node."""

    node: str
    kind: str = Field(description="such as new, seen, moved, changed, absent, unseen")
    words: str


class Looked(Changes):
    """What a look changed in the belief about the scene."""

    belief: str
    version: int
    merged: bool = Field(description="false if the place was not seen, or the look contradicts most of the belief")
    findings: list[Finding]

    @classmethod
    def of(cls, belief: str, look: CommittedLook) -> Self:
        """Return a committed look."""
        shown = look.found.findings[:CHANGES_SHOWN]
        findings = [Finding.model_validate(it, from_attributes=True) for it in shown]
        told = {"belief": belief, "version": look.version, "merged": look.is_merged, "findings": findings}
        return cls(**told, **cls.lines(look.found.delta))


class Planned(Result):
    """The end of a task: whether it is done, what was carried out, and what was refused on the way."""

    done: bool
    outcome: str
    reason: str
    goal: str = Field(description="whether the goal holds in the scene: met, not met, or unknown")
    unmet: list[str] = Field(description="what of the goal does not hold")
    answer: str = ""
    actions: list[str]
    refused: list[str]
    version: int = Field(description="the scene's version now")
