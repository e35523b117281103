"""Questions to the person at a client, by the protocol's elicitation."""

from __future__ import annotations

from typing import Any, Final

import mcp_types as types
from mcp.server.session import ServerSession
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from scenecypher.planner.actions.ruled import AskBack

ANSWER: Final = "answer"
"""The field of the form, and the key of the request in a result that asks."""
ANY: Final = "any of them"


def hears_questions(session: ServerSession) -> bool:
    """Check if a client shows forms to a person, and can be asked now."""
    declared = session.client_capabilities
    elicits = None if declared is None else declared.elicitation
    shows_forms = elicits is not None and (elicits.form is not None or elicits.url is None)
    return shows_forms and (session.protocol_version in MODERN_PROTOCOL_VERSIONS or session.can_send_request)


def answer_schema(question: AskBack) -> dict[str, Any]:
    """Return the form of a question: one of its choices, or a word."""
    field: dict[str, Any] = {"type": "string", "title": "Answer"}
    if question.choices:
        field["enum"] = [*question.choices, *([ANY] if question.nodes else [])]
    return {"type": "object", "properties": {ANSWER: field}, "required": [ANSWER]}


def answer_of(result: object) -> str | None:
    """Return what was answered, "" for any; None if the person declined."""
    if not isinstance(result, types.ElicitResult) or result.action != "accept":
        return None
    said = str((result.content or {}).get(ANSWER) or "")
    return "" if said == ANY else said
