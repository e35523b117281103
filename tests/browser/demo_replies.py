"""Replies to the demo's questions and task that err twice: a label that there is not, a microwave that is closed."""

from __future__ import annotations

import json
from typing import Final

from scenecypher.chat import ScriptedReply
from scenecypher.cli.demo import QUESTIONS


def _cypher(*when: str, query: str) -> ScriptedReply:
    """Return the reply to a question, the last of `when`, in prompts that have the earlier items before it."""
    *pieces, question = when
    return ScriptedReply((*pieces, f"Question: {question}"), f"```cypher\n{query}\n```")


WHERE, LIGHTS, CLOSED = QUESTIONS
ANSWERS: Final = (
    # The first attempt names a label that is not in the schema, as models do; the gate's hint repairs it.
    _cypher(
        "refused",
        WHERE,
        query=(
            "MATCH (c:Object {class: 'cup'})-[:ON]->(support)\n"
            "MATCH (c)-[:INSIDE]->(room:Place)\n"
            "RETURN c.name AS cup, room.name AS room, support.name AS stands_on"
        ),
    ),
    _cypher(WHERE, query="MATCH (c:Cup)-[:INSIDE]->(room:Place) RETURN c.name AS cup, room.name AS room"),
    _cypher(
        LIGHTS,
        query=(
            "MATCH (light {class: 'light'})-[:INSIDE]->(room:Place)\n"
            "WHERE 'on' IN light.states\n"
            "RETURN room.name AS room, count(light) AS lights_on ORDER BY room"
        ),
    ),
    _cypher(
        CLOSED,
        query=(
            "MATCH ({class: 'microwave'})-[:INSIDE]->(room:Place)<-[:INSIDE]-(thing)\n"
            "WHERE 'closed' IN thing.states AND 'can_open' IN thing.affordances\n"
            "RETURN DISTINCT thing.name AS closed, thing.class AS class ORDER BY closed"
        ),
    ),
)

IDS: Final = "What are the ids of the cup that stands on something, and of the microwave?"


def _decision(step: int, decision: str, text: str | None, *, reason: str) -> ScriptedReply:
    """Return the reply to the session's request for decision number `step`."""
    field = {"ask": "question", "act": "action"}.get(decision)
    reply = {"reason": reason, "decision": decision, "question": None, "action": None}
    if field:
        reply[field] = text
    return ScriptedReply((f"Step {step}: decide.",), json.dumps(reply))


DECISIONS: Final = (
    _decision(1, "ask", IDS, reason="I need to know which nodes are meant."),
    _decision(2, "act", "walk(cup_2004)", reason="To take the cup I must be close to it."),
    _decision(3, "act", "grab(cup_2004)", reason="Take the cup."),
    _decision(4, "act", "walk(microwave_297)", reason="Bring it to the microwave."),
    _decision(5, "act", "put_in(cup_2004, microwave_297)", reason="Put it in."),
    _decision(6, "act", "open(microwave_297)", reason="The refusal says that the microwave is closed: open it."),
    _decision(7, "act", "put_in(cup_2004, microwave_297)", reason="Now put the cup in."),
    _decision(8, "act", "close(microwave_297)", reason="A microwave runs closed."),
    _decision(9, "act", "switch_on(microwave_297)", reason="Switch it on."),
    _decision(10, "done", None, reason="the cup is in the microwave, which is closed and on"),
)

REPLIES: Final = (
    *ANSWERS,
    _cypher(
        IDS,
        query=(
            "MATCH (cup {class: 'cup'})-[:ON]->(), (microwave {class: 'microwave'})\n"
            "RETURN cup.id AS cup, microwave.id AS microwave"
        ),
    ),
    *DECISIONS,
)
