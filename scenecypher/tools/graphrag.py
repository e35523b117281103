"""A home for neo4j-graphrag: a retriever that answers questions about it, and its tools for `ToolsRetriever`.

from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.retrievers import ToolsRetriever
from scenecypher.tools.graphrag import HomeRetriever, home_tools

GraphRAG(HomeRetriever(home), llm)
ToolsRetriever(driver, llm, home_tools(home, read_only=True))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenecypher.errors import InputError
from scenecypher.retriever.graphrag import SceneRetriever
from scenecypher.tools.calling import HomeTools

try:
    from neo4j_graphrag.tool import ObjectParameter, Tool
    from neo4j_graphrag.types import RetrieverResult, RetrieverResultItem
except ImportError as error:
    raise InputError(f"neo4j-graphrag is missing ({error}): run `pip install 'scenecypher[agents]'`") from error

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.home import Home
    from scenecypher.retriever.retrieval import Retrieval
    from scenecypher.retriever.retriever import Options


class HomeRetriever(SceneRetriever):
    """A retriever that asks a home, as `home.ask` does; `model` and `options` are its arguments."""

    def __init__(self, home: Home, *, model: Model | str | None = None, options: Options | None = None) -> None:
        self._home, self._model, self._options = home, model, options

    def _ask(self, question: str) -> Retrieval:
        return self._home.ask(question, model=self._model, options=self._options)


def home_tools(home: Home, *, read_only: bool = False) -> list[Tool]:
    """Return a home's tools for `ToolsRetriever`; a refusal is a result, so that the model can try again."""
    given = HomeTools(home, read_only=read_only)
    return [_tool(given, it["function"]) for it in given.definitions]


def _tool(given: HomeTools, described: dict[str, Any]) -> Tool:
    name = described["name"]

    def execute(**arguments: Any) -> RetrieverResult:
        said = given.call(name, {key: value for key, value in arguments.items() if value is not None})
        return RetrieverResult(items=[RetrieverResultItem(content=said)])

    return Tool(name, described["description"], execute, _parameters(described["parameters"]))


def _parameters(schema: dict[str, Any]) -> ObjectParameter:
    """Return a schema of arguments as the library's own: it knows neither references nor alternatives."""
    properties = {name: _parameter(it, schema) for name, it in schema["properties"].items()}
    for name in schema.get("required", ()):
        properties[name]["required"] = True
    document = {
        "description": "the arguments",
        "properties": properties,
        "required_properties": [*schema.get("required", ())],
        "additional_properties": False,
    }
    return ObjectParameter.model_validate(document)


def _parameter(found: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """Return one argument; one that may be null is one that may be left out."""
    described = found.get("description", "")
    for chosen in (it for it in found.get("anyOf", ()) if it.get("type") != "null"):
        found = chosen
    if "$ref" in found:
        found = whole["$defs"][found["$ref"].rpartition("/")[2]]
    made = {"type": found["type"], "description": described or found.get("description", "")}
    if "enum" in found:
        made["enum"] = found["enum"]
    if found["type"] == "array":
        item = found.get("items") or found["prefixItems"][0]
        made["items"] = _parameter(item, whole)
    if found["type"] == "object":
        made["properties"] = {name: _parameter(it, whole) for name, it in found["properties"].items()}
        made["required_properties"] = [*found.get("required", ())]
    return made
