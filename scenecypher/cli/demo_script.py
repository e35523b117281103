"""The script of `scenecypher demo`: its questions, its task, and a real model's replies to them."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

from scenecypher.chat import ScriptedReply

QUESTIONS: Final = (
    "Which room is the cup in, and what does it stand on?",
    "How many lights are switched on in each room?",
    "What in the same room as the microwave is closed and can be opened?",
)
INSTRUCTION: Final = "Put the cup into the microwave and switch it on."
PROVENANCE: Final = (
    "recorded on 2026-11-25 from a strong language model that this demo asked through the OpenAI protocol"
)


def recorded_replies() -> tuple[ScriptedReply, ...]:
    """Return the replies as they were, each to prompts that end as the one that it answered."""
    text = (files("scenecypher.cli") / "demo_replies.jsonl").read_text(encoding="utf-8")
    exchanges = map(json.loads, text.splitlines())
    return tuple(ScriptedReply((it["user"].splitlines()[-1],), it["reply"]) for it in exchanges)
