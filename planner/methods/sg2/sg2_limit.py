"""SG2-limit: a ReAct-limit agent, with its own context, as the Task Planner's Retriever (SG2, "SG2 v.s. ReAct").

It answers each query by ``get_neighbors`` and ``get_attrs`` only, and writes no code. Ours: its prompt has the query,
the environment and the schema (the paper's Retriever has the schema too), it ends by ``answer(text)``, or without an
answer after `MAX_CALLS` calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError, ReplyRejected
from scenecypher.planner.prompts.replies import (
    STEP_FORM,
    ReActStep,
    ask_in_text,
    check_known_call,
    parse_arguments,
    parse_step,
)
from scenecypher.planner.prompts.texts import environment_explanation
from scenecypher.planner.sessions.recipe import SceneAccess
from scenecypher.retriever.graph_api import CALL_SETS, CALLS, GraphApi, run_call
from scenecypher.retriever.reader import SceneReader
from scenecypher.retriever.retrieval import Retrieval
from scenecypher.retriever.schema_text import schema_text

MAX_CALLS: Final = 30
"""Limit of calls for one query."""
ANSWER: Final = "answer"
LIMITED: Final = CALL_SETS["react-limit"]

SYSTEM: Final = """\
You answer queries about a scene graph, of which nodes are things, places and the agent, and links say where they are \
and what they join. You look at the graph by calls, one a reply, and get what each gives as an observation. Never \
guess what the graph holds.

The environment:
{environment}

The schema of the scene graph:
{schema}

The calls:
{calls}
answer(text): gives the answer to the query, with the ids of the nodes that it is about, and ends. If the graph does \
not hold the answer, say so.

Give every reply this form:
{form}"""


@dataclass(frozen=True, slots=True)
class LimitedRetriever:
    """Retriever that answers questions by two graph calls; `schema` replaces the scene's own."""

    model: Model
    reader: SceneReader
    schema: str = ""

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Return the answer, or a refusal. Raises RejectedError if the agent's replies are unusable."""
        api = GraphApi(self.reader)
        messages: tuple[Message, ...] = (self._system(scene), Message("user", f"Query: {question}"))
        usage = Usage()
        for _ in range(MAX_CALLS):
            step, usage = ask_in_text(self.model, messages, _read, spent=usage)
            if step.name == ANSWER:
                answer = step.written.strip("\"'` ")
                return Retrieval(question, "answered", answer, (), usage)
            messages = (
                *messages,
                Message("assistant", str(step)),
                Message("user", f"Observation: {observation_text(api, step)}"),
            )
        return Retrieval(question, "refused", f"no answer was found within {MAX_CALLS} calls; ask for less", (), usage)

    def _system(self, scene: SceneInfo) -> Message:
        calls = "\n".join(f"{name}(node_id): {CALLS[name].description}" for name in LIMITED)
        text = SYSTEM.format(
            environment=environment_explanation(scene.vocabulary),
            schema=self.schema
            or schema_text(self.reader.enumerator.of(scene), vocabulary=scene.vocabulary, names=False),
            calls=calls,
            form=STEP_FORM.format(example="get_attrs(node_id)"),
        )
        return Message("system", text)


def limited_retriever(access: SceneAccess) -> LimitedRetriever:
    """Return the Retriever of a session."""
    return LimitedRetriever(access.model, access.reader, access.schema)


def observation_text(api: GraphApi, step: ReActStep) -> str:
    """Return the result of a call as JSON, or the reason of its rejection."""
    try:
        arguments: Mapping[str, Any] = parse_arguments(step, ("node_id",))
        return json.dumps(run_call(api, step.name, arguments), ensure_ascii=False)
    except RejectedError as rejected:
        return str(rejected)


def _read(text: str) -> ReActStep:
    step = parse_step(text, "get_attrs(node_id)")
    check_known_call(step.name, (*LIMITED, ANSWER))
    if step.name == ANSWER and not step.written:
        raise ReplyRejected("the answer is empty; give it between the brackets")
    return step
