"""Model wrapper that keeps the cost and the source of each reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from scenecypher.chat.model import Model, Reply, Request, Usage


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
    def source(self) -> str:
        """Source of the last reply, empty before it."""
        return self.replies[-1].source if self.replies else ""

    @property
    def model_name(self) -> str:
        """Name of the last reply's model, empty before it."""
        return self.replies[-1].model if self.replies else ""
