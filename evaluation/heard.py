"""A model that remembers what its replies cost and where they came from, also of those that nobody could read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scenecypher.chat.model import Model, Reply, ReplySource, Request, Usage


@dataclass(slots=True)
class Heard:
    """Passes requests on; for one sample in one thread.

    `source` and `model_name` are the last reply's, empty before it.
    """

    model: Model
    usage: Usage = field(default_factory=Usage)
    source: ReplySource | Literal[""] = ""
    model_name: str = ""

    def reply(self, request: Request) -> Reply:
        """Answer once, as the model does."""
        reply = self.model.reply(request)
        self.usage += reply.usage
        self.source, self.model_name = reply.source, reply.model
        return reply
