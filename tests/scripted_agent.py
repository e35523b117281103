"""A scripted model that calls tools: it takes the cup of a home, whatever loop it is asked by."""

from __future__ import annotations

import json
from typing import Any, Final
from uuid import uuid4

from scenecypher.settings import Settings
from tests.scripted_model import MODEL_NAME, Say

SCENE: Final = "virtualhome/963_2"
CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("query", {"cypher": "MATCH (c:Object {class: 'cup'}) RETURN c.name"}),
    ("act", {"action": "grab(cup_2004)"}),
    ("act", {"action": "walk(cup_2004)"}),
    ("act", {"action": "grab(cup_2004)"}),
)
MODELS: Final = (MODEL_NAME, str(Settings.model_fields["model"].default))
"""Names of models that the pages use."""
DONE: Final = "The cup is in the right hand."


def takes_the_cup(request: dict[str, Any]) -> Say:
    """Return the next call, by the number of answers so far; tools that want a scene get its name."""
    answers = [message for message in request["messages"] if message["role"] == "tool"]
    if len(answers) == len(CALLS):
        return Say(DONE)
    name, arguments = CALLS[len(answers)]
    if name == "act":
        arguments = {**arguments, "action_id": uuid4().hex}
    offered = next(it["function"] for it in request["tools"] if it["function"]["name"] == name)
    if "scene" in offered["parameters"]["properties"]:
        arguments = {"scene": SCENE, **arguments}
    called = {"id": f"call_{len(answers)}", "type": "function"}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return Say(None, finish="tool_calls", message={"tool_calls": [{**called, "function": function}]})
