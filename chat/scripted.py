"""A scripted model: a table of rules from requests to replies, for demonstrations without a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from scenecypher.chat.model import Reply, ReplySource, Request, Usage
from scenecypher.errors import ModelUnavailable

MODEL_NAME: Final = "scripted"
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """A rule; it fits if the last user message holds all texts of `when` and the system message those of `system`."""

    when: tuple[str, ...]
    reply: str
    system: tuple[str, ...] = ()

    def fits(self, request: Request) -> bool:
        """Return True if this rule answers the request."""
        user, system = _last_text(request, "user"), _last_text(request, "system")
        return all(piece in user for piece in self.when) and all(piece in system for piece in self.system)


class Scripted:
    """A service that answers by the first rule that fits, without cost; `source` says who wrote the replies."""

    def __init__(self, replies: Sequence[ScriptedReply], *, source: ReplySource = "scripted") -> None:
        self._replies = tuple(replies)
        self._source: ReplySource = source

    def session(self, name: str) -> Self:  # noqa: ARG002 - rules hold in every session
        """Return the script itself: it has no state."""
        return self

    def reply(self, request: Request) -> Reply:
        """Return the reply of the first rule that fits. Raises ModelUnavailable, with the message that none fits."""
        for rule in self._replies:
            if rule.fits(request):
                return Reply(rule.reply, Usage(), MODEL_NAME, source=self._source)
        asked = _last_text(request, "user")
        shown = asked[:_SHOWN] + ("…" if len(asked) > _SHOWN else "")
        raise ModelUnavailable(
            f"none of the {len(self._replies)} scripted replies is for {shown!r}; "
            "ask what the script foresees, or set OPENAI_API_KEY or OPENAI_BASE_URL for a live model"
        )


def _last_text(request: Request, role: str) -> str:
    return next((message.text for message in reversed(request.messages) if message.role == role), "")
