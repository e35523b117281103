"""Mock of an Inspect model that answers messages by a function, for experiments without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model


def mock_model(reply: Callable[[str], str], *, whole: bool = False) -> Any:
    """Return a model whose answers cost 100 prompt tokens and 10 completion tokens each.

    It answers the last message, or the `whole` prompt.
    """

    def generate(messages: list[ChatMessage], *_: object) -> ModelOutput:
        read = "\n\n".join(it.text for it in messages) if whole else messages[-1].text
        output = ModelOutput.from_content("mockllm", reply(read))
        output.usage = ModelUsage(input_tokens=100, output_tokens=10)  # else Inspect fetches a tokenizer to count
        return output

    return get_model("mockllm/model", memoize=False, custom_outputs=generate)
