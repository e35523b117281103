"""Token cost of showing a whole scene to a method: its text, and the prompt of chain-of-thought prompting.

SG2, "Analysis on the Computational Cost"; SG-RwR, appendix E. A token is estimated as four characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.chat.model import Reply, Request
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.errors import ModelUnavailable
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.retriever.graph_text import graph_text
from scenecypher.retriever.reader import SceneReader

CHARACTERS_PER_TOKEN: Final = 4
COT: Final = "cot"


@dataclass(frozen=True, slots=True)
class PromptSizes:
    """Tokens of a scene's text and of the first CoT prompt; None if not measured."""

    graph: int | None = None
    cot: int | None = None


@dataclass(slots=True)
class PromptRecorder:
    """Model that records requests and never replies."""

    requests: list[Request] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        """Record the request. Always raises ModelUnavailable."""
        self.requests.append(request)
        raise ModelUnavailable("nobody answers here: ask a model")


def prompt_sizes(setting: SessionSetting) -> PromptSizes:
    """Measure the setting's scene in its current state."""
    reader = SceneReader(setting.gate, Enumerator(setting.store.replicas), setting.scene)
    text, _version = graph_text(reader)
    return PromptSizes(len(text) // CHARACTERS_PER_TOKEN, _cot_tokens(setting))


def _cot_tokens(setting: SessionSetting) -> int:
    recorder = PromptRecorder()
    asking = replace(setting, name=COT, model=recorder, ablations=(), belief=False, world=None)
    try:
        list(prepare_session(asking, recipe_named(COT)).run())
    except ModelUnavailable:
        return sum(len(message.text) for message in recorder.requests[0].messages) // CHARACTERS_PER_TOKEN
    return 0
