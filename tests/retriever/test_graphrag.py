"""Adapters to neo4j-graphrag: our retriever in its GraphRAG, its models in ours, its retriever as a baseline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from neo4j import Driver, GraphDatabase

pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed: pip install 'scenecypher[agents]'")

from neo4j_graphrag.exceptions import LLMGenerationError, Text2CypherRetrievalError
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import OpenAILLM

from scenecypher.chat import Image, Message, Request, Usage
from scenecypher.chat.graphrag import GraphragModel, ModelLLM
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Address
from scenecypher.errors import InputError, ModelUnavailable
from scenecypher.retriever.graphrag import SceneRetriever, text2cypher
from tests.retriever.conftest import Ready
from tests.retriever.test_retriever import GOOD, QUESTION, ROWS
from tests.scripted_model import MODEL_NAME, Fail, ScriptedModel


@pytest.fixture
def driver(address: Address) -> Iterator[Driver]:
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        yield driver


def llm_of(server: ScriptedModel) -> OpenAILLM:
    return OpenAILLM(MODEL_NAME, base_url=server.base_url, api_key="none", max_retries=0)


def close(llm: OpenAILLM) -> None:
    asyncio.run(llm.aclose())


def test_scene_retriever_works_in_graphrag(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD, "A cup and a plate."])
    rag = GraphRAG(SceneRetriever(retriever, scene), ModelLLM(retriever.model))
    found = rag.search(QUESTION, return_context=True)
    assert found.answer == "A cup and a plate."
    assert found.retriever_result is not None
    assert [json.loads(item.content) for item in found.retriever_result.items] == [{"object": row[0]} for row in ROWS]
    assert found.retriever_result.metadata is not None
    assert found.retriever_result.metadata["cypher"] == GOOD
    assert '{"object": "cup_7011"}' in server.requests[1]["messages"][-1]["content"]


def test_scene_retriever_is_a_tool(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([GOOD])
    tool = SceneRetriever(retriever, scene).as_tool()
    assert tool.get_name() == "ask_scene"
    assert tool.get_parameters()["required"] == ["query_text"]
    assert len(tool.execute(query_text=QUESTION).items) == 2


def test_a_summary_is_one_item_and_a_refusal_an_error(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([GOOD, "Two things."], verifier="paper")
    assert SceneRetriever(retriever, scene).search(query_text=QUESTION).items[0].content == '{"answer": "Two things."}'
    refused, _ = ready(["MATCH (n:Wrong) RETURN n"], attempts=1)
    with pytest.raises(Text2CypherRetrievalError, match="Wrong"):
        SceneRetriever(refused, scene).search(query_text=QUESTION)


def test_graphrag_models_write_our_queries(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([])
    with ScriptedModel(["MATCH (t:Table) RETURN t", GOOD]) as server:
        llm = llm_of(server)
        found = replace(retriever, model=GraphragModel(llm)).ask(QUESTION, scene)
        close(llm)
    assert (found.rows, found.usage) == (ROWS, Usage(22, 14))
    assert [turn["role"] for turn in server.requests[1]["messages"]] == ["system", "user", "assistant", "user"]


def test_graphrag_models_get_schemas_in_the_prompt_and_no_images() -> None:
    with ScriptedModel(["{}"]) as server:
        llm = llm_of(server)
        GraphragModel(llm).reply(Request((Message("user", "Go."),), schema={"title": "Plan"}))
        with pytest.raises(InputError, match="no pictures"):
            GraphragModel(llm).reply(Request((Message("user", "Look.", (Image(b"", "image/png"),)),)))
        close(llm)
    assert '{"title": "Plan"}' in server.requests[0]["messages"][0]["content"]


def test_errors_are_translated_in_both_directions(ready: Ready) -> None:
    with ScriptedModel([Fail(400, "no such luck")]) as server:
        llm = llm_of(server)
        with pytest.raises(ModelUnavailable, match="no such luck"):
            GraphragModel(llm).reply(Request((Message("user", "Go."),)))
        close(llm)
    retriever, _ = ready([Fail(400, "no such luck")])
    with pytest.raises(LLMGenerationError, match="no such luck"):
        ModelLLM(retriever.model).invoke("Go.")


def test_model_llm_supports_both_interfaces(ready: Ready) -> None:
    retriever, server = ready(["one", "two", "three"])
    llm = ModelLLM(retriever.model)
    before = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert llm.invoke("c", before, "s").content == "one"
    assert [turn["content"] for turn in server.requests[0]["messages"]] == ["s", "a", "b", "c"]
    answer = llm.invoke([{"role": "user", "content": "a"}])
    assert (answer.content, answer.usage and answer.usage.total_tokens) == ("two", 18)
    assert asyncio.run(llm.ainvoke("c")).content == "three"


def test_text2cypher_is_a_baseline(ready: Ready, driver: Driver, scene: SceneInfo) -> None:
    of_the_scene = GOOD.replace("{class:", f"{{scene: '{scene.key}', class:")
    retriever, server = ready([f"```cypher\n{of_the_scene}\n```"])
    baseline = text2cypher(driver, retriever.model, schema="(:Object)-[:ON]->(:Asset)", examples=["an example"])
    found = baseline.search(query_text=QUESTION)
    assert [item.content for item in found.items] == [f"<Record object='{row[0]}'>" for row in ROWS]
    asked = server.requests[0]["messages"][-1]["content"]
    assert "(:Object)-[:ON]->(:Asset)" in asked
    assert "an example" in asked
