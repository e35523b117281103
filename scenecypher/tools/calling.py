"""Calls of tools: arguments are checked, and what goes wrong is told in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from scenecypher.errors import ReplyRejected, SceneCypherError, ServiceError, did_you_mean
from scenecypher.tools.desk import Desk, OneHome
from scenecypher.tools.results import Result
from scenecypher.tools.table import Tool, tools_served

if TYPE_CHECKING:
    from scenecypher.home import Home


def call_tool(tools: Mapping[str, Tool], name: str, given: Mapping[str, Any], desk: Desk) -> Result:
    """Return the result of a call.

    Raises ReplyRejected for an unknown tool and for arguments that it does not take, and as the front door does.
    """
    tool = tool_named(tools, name)
    try:
        arguments = tool.arguments.model_validate(given)
    except ValidationError as error:
        raise ReplyRejected(_problems(name, tool, error)) from None
    return tool.run(desk, **{it: getattr(arguments, it) for it in tool.arguments.model_fields})


def tool_named(tools: Mapping[str, Tool], name: str) -> Tool:
    """Return a tool. Raises ReplyRejected with the nearest names."""
    if name not in tools:
        known = ", ".join(tools)
        raise ReplyRejected(f"there is no tool {name[:60]!r}{did_you_mean(name[:60], (*tools,))}; use {known}")
    return tools[name]


def arguments_schema(tool: Tool, *, without_scene: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments; `without_scene` if the scene is known already."""
    schema: dict[str, Any] = _untitled(tool.arguments.model_json_schema())
    if without_scene and tool.is_of_scene:
        del schema["properties"]["scene"]
        schema["required"] = [it for it in schema["required"] if it != "scene"]
    return schema


def result_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's result."""
    schema: dict[str, Any] = _untitled(tool.result.model_json_schema(mode="serialization"))
    return schema


class HomeTools:
    """One home's tools for the chat-completions protocol. Safe to share between threads.

    `definitions` go into a request's `tools`; `call` carries out a tool call of the reply.
    """

    def __init__(self, home: Home, *, read_only: bool = False) -> None:
        self.home = home
        self._tools = {name: it for name, it in tools_served(read_only=read_only).items() if it.is_of_scene}
        self._desk = Desk(OneHome(home))

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """Name, description and JSON schema of the arguments of each tool."""
        return [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": tool.description,
                    "parameters": arguments_schema(tool, without_scene=True),
                },
            }
            for name, tool in self._tools.items()
        ]

    def run(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Return the result of a tool. Raises SceneCypherError."""
        if "scene" in arguments:
            raise ReplyRejected(f"{name} takes no scene: it works in {self.home.name}; leave it out")
        return call_tool(self._tools, name, {**arguments, "scene": self.home.name}, self._desk)

    def call(self, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Return the answer to a model's tool call; a refusal is an answer too.

        `arguments` may be a JSON text, or None, which some services send where there are none.

        Raises ServiceError if the database or a model service fails.
        """
        try:
            given = _object(name, arguments) if isinstance(arguments, str) else arguments or {}
            return self.run(name, given).text()
        except ServiceError:
            raise
        except SceneCypherError as error:
            return f"refused: {error}"


def _object(name: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise ReplyRejected(f"the arguments of {name} are no JSON ({error}); write an object") from None
    if not isinstance(found, dict):
        raise ReplyRejected(f"the arguments of {name} are no object; write one, with the names of its arguments")
    return found


def _problems(name: str, tool: Tool, error: ValidationError) -> str:
    """Return what is wrong with the arguments, and which there are."""
    problems = [f"{'.'.join(map(str, it['loc'])) or name}: {it['msg']}" for it in error.errors(include_url=False)[:5]]
    takes = ", ".join(tool.arguments.model_fields) or "none"
    return f"{name}: {'; '.join(problems)}; its arguments are {takes}"[:2_000]


def _untitled(schema: Any) -> Any:
    """Return a JSON schema without the titles that pydantic makes of names."""
    if isinstance(schema, list):
        return [_untitled(it) for it in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _untitled(it) for key, it in schema.items() if key != "title" or not isinstance(it, str)}
