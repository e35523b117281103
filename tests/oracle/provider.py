"""Oracle programs as a model provider of Inspect: ``oracle/lookplangraph``, ``oracle/goals`` and others.

``python -m tests.oracle.provider eval grasif --model oracle/lookplangraph --method lookplangraph --wording goal`` is
`scenecypher` with these models known to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import anyio
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from scenecypher.chat.model import Message
from tests.oracle import goal_tasks, goals, lookplangraph, react_sg2, sg2


def _last(messages: Sequence[Message]) -> str:
    return lookplangraph.reply(messages[0].text, messages[-1].text)


PROGRAMS: Final[Mapping[str, Callable[[Sequence[Message]], str]]] = {
    "lookplangraph": _last,
    "sg2": sg2.reply,
    "react-sg2": react_sg2.reply,
    "goals": partial(goals.reply, "right"),
    "careful": goal_tasks.careful,
    "careless": goal_tasks.careless,
}


class Oracle(ModelAPI):
    """A program as a model, which takes `delay_s` for a reply; its tokens are estimated at four characters each."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        *,
        delay_s: float = 0.0,
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        self._delay_s = delay_s

    def max_connections(self) -> int:
        """Return a large number, since programs need no rate limit."""
        return 100

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - Inspect's name
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Return the program's reply to the conversation."""
        await anyio.sleep(self._delay_s)
        said = [Message(_role(one.role), one.text) for one in input]
        text = PROGRAMS[self.model_name](said)
        output = ModelOutput.from_content(f"oracle/{self.model_name}", text)
        size = sum(len(one.text) for one in said) // 4
        output.usage = ModelUsage(input_tokens=size, output_tokens=len(text) // 4)
        return output


def _role(role: str) -> Any:
    return role


@modelapi(name="oracle")
def oracle() -> type[ModelAPI]:
    """Return the provider; importing this module registers it."""
    return Oracle


def main() -> int:
    """Run `scenecypher` with the oracles registered."""
    from scenecypher.cli.app import run_command_line

    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
