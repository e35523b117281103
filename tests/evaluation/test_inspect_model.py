"""Inspect's model behind our interface, asked in a worker thread."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ContentImage, ContentText, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import BaseModel

from scenecypher.chat import Image, Message, Reply, Request, Usage, ask_for
from scenecypher.errors import InputError, ModelUnavailable
from scenecypher.evaluation.attempts import InspectModel
from scenecypher.evaluation.running import RunOptions, run_task

Asked = list[tuple[list[ChatMessage], GenerateConfig]]
Generate = Callable[[list[ChatMessage], list[ToolInfo], ToolChoice, GenerateConfig], ModelOutput]


TALK = (Message("system", "be brief"), Message("user", "cup?"), Message("assistant", "where?"), Message("user", "here"))


def mock(output: ModelOutput, asked: Asked | None = None) -> InspectModel:
    def generate(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        if asked is not None:
            asked.append((messages, config))
        return output

    return InspectModel(get_model("mockllm/model", memoize=False, custom_outputs=generate))


def output_of(text: str, stop: Any = "stop") -> ModelOutput:
    output = ModelOutput.from_content("mockllm", text, stop_reason=stop)
    output.usage = ModelUsage(input_tokens=5, input_tokens_cache_read=3, input_tokens_cache_write=1, output_tokens=2)
    return output


def run_in_thread(work: Callable[[], Any]) -> Any:
    return anyio.run(partial(anyio.to_thread.run_sync, work))


def test_messages_are_sent_and_the_reply_is_returned() -> None:
    asked: Asked = []
    model = mock(output_of("here it is"), asked)
    reply = run_in_thread(lambda: model.session("any").reply(Request(TALK, temperature=0.5, seed=7, max_tokens=90)))
    assert reply == Reply("here it is", Usage(9, 2), "mockllm", source="scripted")
    ((messages, config),) = asked
    assert [(message.role, message.text) for message in messages] == [(one.role, one.text) for one in TALK]
    assert (config.temperature, config.seed, config.max_tokens) == (0.5, 7, 90)


def test_samples_never_come_from_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path))
    asked: Asked = []

    def generate(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        asked.append((messages, config))
        return output_of("a reply")

    config = GenerateConfig(cache=True)
    model = InspectModel(get_model("mockllm/model", config=config, memoize=False, custom_outputs=generate))
    for temperature in (0.7, 0.7, 0.0, 0.0):
        run_in_thread(partial(model.reply, Request(TALK, temperature=temperature)))
    assert [config.temperature for _, config in asked] == [0.7, 0.7, 0]


@pytest.mark.parametrize(
    ("stop", "finish"), [("max_tokens", "length"), ("content_filter", "filtered"), ("unknown", "stop")]
)
def test_finish_reasons(stop: str, finish: str) -> None:
    model = mock(output_of("", stop))
    assert run_in_thread(lambda: model.reply(Request(TALK))).finish == finish


def test_pictures_are_sent() -> None:
    asked: Asked = []
    model = mock(output_of("a cup"), asked)
    run_in_thread(lambda: model.reply(Request((Message("user", "what is it?", (Image(b"png", "image/png"),)),))))
    text, picture = list(asked[0][0][0].content)
    assert isinstance(text, ContentText)
    assert isinstance(picture, ContentImage)
    assert (text.text, picture.image) == ("what is it?", "data:image/png;base64,cG5n")


class Part(BaseModel):
    name: str


class Form(BaseModel):
    parts: list[Part]


def test_a_schema_is_sent_and_the_reply_is_parsed() -> None:
    asked: Asked = []
    model = mock(output_of('{"parts": [{"name": "cup"}]}'), asked)
    value, usage = run_in_thread(lambda: ask_for(model, TALK, Form))
    assert (value, usage) == (Form(parts=[Part(name="cup")]), Usage(9, 2))
    schema = asked[0][1].response_schema
    assert schema is not None
    items = (schema.json_schema.properties or {})["parts"].items
    assert items is not None
    assert list(items.properties or {}) == ["name"], "what a reference names stands in its place"
    run_in_thread(lambda: ask_for(model, TALK, Form))
    assert asked[1][1].response_schema is schema, "made once: Inspect's copies of it share it"


def test_a_failure_has_advice() -> None:
    model = mock(ModelOutput(model="mockllm", error="overloaded", usage=ModelUsage()))
    with pytest.raises(ModelUnavailable, match=r"overloaded.*; try again"):
        run_in_thread(lambda: model.reply(Request(TALK)))


def test_a_model_without_a_key_is_bad_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Inspect's own error is printed by a hook of the interpreter, which a command line never reaches."""
    for name in [name for name in os.environ if name.startswith(("OPENAI", "AZURE"))]:
        monkeypatch.delenv(name)
    task = Task([Sample("where?", id="1")], name="asked")
    with pytest.raises(InputError, match=r"openai/gpt-4o can't be asked: .*OPENAI_API_KEY"):
        run_task(task, RunOptions(model="openai/gpt-4o", log_dir=str(tmp_path)))
