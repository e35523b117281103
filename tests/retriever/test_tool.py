"""Our retriever as a tool of an agent that knows only the protocol, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.retriever.tool import NAME, SceneTool
from tests.retriever.conftest import Ready
from tests.scripted_model import MODEL_NAME, Say, ScriptedModel, Step

QUESTION = "What is on the table?"
GOOD = "MATCH (o:Object)-[:ON]->(:Asset {class: 'table'}) RETURN o.name AS object ORDER BY object"
ROWS = [["cup_7011"], ["plate_7012"]]


def wants(arguments: str) -> Say:
    called = {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": arguments}}
    return Say(None, finish="tool_calls", message={"tool_calls": [called]})


def agent(tool: SceneTool, server: ScriptedModel) -> str:
    """Run a whole agent: ask the model, call the tool as requested, return the model's last words."""
    with openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": "Which things could I clear off the table?"}]
        while True:
            reply = client.chat.completions.create(model=MODEL_NAME, messages=messages, tools=[tool.schema])  # type: ignore[list-item]
            turn = reply.choices[0].message
            if not turn.tool_calls:
                return turn.content or ""
            messages.append(turn.model_dump(exclude_none=True))
            for called in turn.tool_calls:
                assert called.type == "function"
                answer = tool.call(called.function.arguments)
                messages.append({"role": "tool", "tool_call_id": called.id, "content": answer})


def test_an_agent_uses_the_tool(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([GOOD])
    steps: list[Step] = [wants(json.dumps({"question": QUESTION})), "A cup and a plate."]
    with ScriptedModel(steps) as server:
        assert agent(SceneTool(retriever, scene), server) == "A cup and a plate."
    offered = server.requests[0]["tools"][0]["function"]
    assert (offered["name"], offered["parameters"]["required"]) == (NAME, ["question"])
    told = json.loads(server.requests[1]["messages"][-1]["content"])
    assert (told["outcome"], told["rows"], told["cypher"]) == ("answered", ROWS, GOOD)


def test_wrong_arguments_are_explained_to_the_agent(ready: Ready, scene: SceneInfo) -> None:
    retriever, inner = ready([GOOD])
    steps: list[Step] = [wants('{"query": 1'), wants(json.dumps({"question": QUESTION})), "Two things."]
    with ScriptedModel(steps) as server:
        assert agent(SceneTool(retriever, scene), server) == "Two things."
    told = json.loads(server.requests[1]["messages"][-1]["content"])
    assert told["outcome"] == "failed"
    assert 'call ask_scene with {"question": "…"}' in told["answer"]
    assert len(inner.requests) == 1


WRONG = ["", "[]", "{}", '{"question": 7}', '{"question": " "}', '{"question": "x", "scene": "other"}', "null"]


@pytest.mark.parametrize("arguments", WRONG)
def test_invalid_arguments_give_a_failed_outcome(ready: Ready, scene: SceneInfo, arguments: str) -> None:
    retriever, server = ready([])
    assert json.loads(SceneTool(retriever, scene).call(arguments))["outcome"] == "failed"
    assert server.requests == []


def test_an_answer_without_rows_has_no_columns(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(["UNANSWERABLE: no prices"])
    told = json.loads(SceneTool(retriever, scene).call('{"question": "What does it cost?"}'))
    assert told == {"outcome": "unanswerable", "answer": "no prices"}
