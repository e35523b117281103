"""Model wrapper that adds up the cost of its replies and keeps their source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scenecypher.chat.model import Model, Reply, ReplySource, Request, Usage


@dataclass(slots=True)
class MeteredModel:
    """Model that passes requests on and counts tokens, unreadable replies included; for one sample in one thread.

    `source` and `model_name` are the last reply's, empty before it.
    """

    model: Model
    usage: Usage = field(default_factory=Usage)
    source: ReplySource | Literal[""] = ""
    model_name: str = ""

    def reply(self, request: Request) -> Reply:
        """Ask the model once."""
        reply = self.model.reply(request)
        self.usage += reply.usage
        self.source, self.model_name = reply.source, reply.model
        return reply
