"""What a scene costs a method that is shown all of it: its text, and the prompt of chain-of-thought prompting.

SG2, "Analysis on the Computational Cost"; SG-RwR, appendix E. A token is taken to be four characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.chat.model import Reply, Request
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.errors import ModelUnavailable
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.staging import SessionSetting, prepare_session
from scenecypher.retriever.graph_text import graph_text
from scenecypher.retriever.reader import SceneReader

CHARACTERS: Final = 4
COT: Final = "cot"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a scene's text and of the first prompt of CoT; None where they were not asked for."""

    graph: int | None = None
    cot: int | None = None


@dataclass(slots=True)
class Deaf:
    """A model that hears the first request, and says nothing."""

    heard: list[Request] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        """Raises ModelUnavailable."""
        self.heard.append(request)
        raise ModelUnavailable("nobody answers here: ask a model")


def sizes(setting: SessionSetting) -> Sizes:
    """The sizes of the setting's scene as it is now."""
    reader = SceneReader(setting.gate, Enumerator(setting.store.database), setting.scene)
    text, _version = graph_text(reader)
    return Sizes(len(text) // CHARACTERS, _cot(setting))


def _cot(setting: SessionSetting) -> int:
    deaf = Deaf()
    asking = replace(setting, name=COT, model=deaf, ablations=(), belief=False, world=None)
    try:
        list(prepare_session(asking, recipe_named(COT)).run())
    except ModelUnavailable:
        return sum(len(message.text) for message in deaf.heard[0].messages) // CHARACTERS
    return 0
