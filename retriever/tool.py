"""Our Retriever as a tool for any agent that calls tools by the chat-completions protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError
from scenecypher.retriever.retrieval import Retrieval
from scenecypher.retriever.retriever import Retriever

NAME: Final = "ask_scene"
DESCRIPTION: Final = (
    "Answers a question about the scene graph of one environment, such as a home: which things there are, where they "
    "are, how many, in what state, what can be done with them. Reads only. Ask one thing at a time, in plain words."
)


class Arguments(BaseModel):
    """The arguments of the tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(description="the question, such as: Which room is the cup in?", min_length=1, pattern=r"\S")


@dataclass(frozen=True, slots=True)
class SceneTool:
    """A tool for questions about one scene: `schema` goes into a request's `tools`, `call` answers a tool call."""

    retriever: Retriever
    scene: SceneInfo

    @property
    def schema(self) -> dict[str, Any]:
        """Return the tool's name, description and JSON schema of its arguments."""
        question = Arguments.model_json_schema()["properties"]["question"]
        asked = {"type": "string", "description": question["description"]}
        parameters = {
            "type": "object",
            "properties": {"question": asked},
            "required": ["question"],
            "additionalProperties": False,
        }
        function = {"name": NAME, "description": DESCRIPTION, "parameters": parameters, "strict": True}
        return {"type": "function", "function": function}

    def call(self, arguments: str) -> str:
        """Return the result's JSON for the arguments' JSON: outcome and answer, and rows if there are any.

        Invalid arguments give an answer too: outcome ``failed`` with instructions. Raises ServiceError.
        """
        try:
            asked = Arguments.model_validate_json(arguments)
        except ValidationError as error:
            return _failed(f"the arguments can't be used ({error.errors()[0]['msg']})")
        try:
            return json.dumps(result_document(self.retriever.ask(asked.question, self.scene)), ensure_ascii=False)
        except RejectedError as error:
            return _failed(str(error))


def result_document(found: Retrieval) -> dict[str, Any]:
    """Return the parts of a retrieval that an agent needs, all of them equal for equal scenes."""
    document: dict[str, Any] = {"outcome": found.outcome, "answer": found.answer}
    if found.cypher is not None:
        document |= {"columns": list(found.columns), "rows": [list(row) for row in found.rows], "cypher": found.cypher}
    return document | ({"truncated": found.truncated} if found.truncated else {})


def _failed(why: str) -> str:
    message = f'{why}; call {NAME} with {{"question": "…"}}'
    return json.dumps({"outcome": "failed", "answer": message}, ensure_ascii=False)
