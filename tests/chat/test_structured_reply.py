"""Structured replies over real HTTP: read leniently, validated strictly, asked again with the reason."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from scenecypher.chat import Message, Request, Usage, ask_for, schema_of
from scenecypher.chat.model import CUT_OFF_ECHO
from scenecypher.chat.wire import is_closed
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts.texts import ask_in_text
from tests.chat.conftest import Serve
from tests.scripted_model import Say, Stall

ASKED = (Message("system", "You plan."), Message("user", "What next?"))


class Action(BaseModel):
    name: Literal["grab", "open"] = Field(description="what to do")
    target: str
    times: int = Field(default=1, ge=1)


class Grab(BaseModel):
    kind: Literal["grab"]
    what: Action


class Done(BaseModel):
    kind: Literal["done"]


class Decision(BaseModel):
    """The next decision."""

    title: str
    reason: str | None = None
    choice: Annotated[Grab | Done, Field(discriminator="kind", description="one of the two")]
    path: list[Action] = []


class Loose(BaseModel):
    anything: dict[str, int]


GOOD = '{"name": "grab", "target": "soap"}'


def test_a_valid_reply_is_parsed(serve: Serve) -> None:
    model, server = serve([Say(GOOD, usage=(5, 3))])
    assert ask_for(model, ASKED, Action) == (Action(name="grab", target="soap"), Usage(5, 3))
    sent = server.requests[0]
    assert sent["response_format"]["json_schema"]["schema"] == schema_of(Action)
    assert sent["temperature"] == 0


@pytest.mark.parametrize(
    "text",
    [f"<think>soap or milk?</think>```json\n{GOOD}\n```", f"Sure! {GOOD} [as asked]", f'{{"name": "fly"}} no: {GOOD}'],
)
def test_a_wrapped_reply_is_parsed_without_retry(serve: Serve, text: str) -> None:
    model, _ = serve([text])
    assert ask_for(model, ASKED, Action)[0] == Action(name="grab", target="soap")


def test_a_bad_reply_is_asked_again_with_the_reason(serve: Serve) -> None:
    model, server = serve(['{"name": "fly", "target": 3}', "I'd say the soap.", GOOD])
    action, usage = ask_for(model, ASKED, Action)
    assert action == Action(name="grab", target="soap")
    assert usage == Usage(33, 21), "the tokens of all three attempts"
    second, third = (request["messages"] for request in server.requests[1:])
    assert [turn["role"] for turn in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == '{"name": "fly", "target": 3}'
    assert "$.name: Input should be 'grab' or 'open'; $.target: Input should be a valid string" in second[3]["content"]
    assert third[:4] == second
    assert "Invalid JSON" in third[5]["content"]


def test_the_default_is_three_attempts(serve: Serve) -> None:
    model, server = serve(["{}", "{}", Say('{"name": "open"}', usage=(2, 1))])
    with pytest.raises(ReplyRejected, match=r"form of Action, after 3 attempts: \$\.target: Field required") as caught:
        ask_for(model, ASKED, Action)
    assert len(server.requests) == 3
    assert (caught.value.prompt_tokens, caught.value.completion_tokens) == (24, 15)
    assert caught.value.reply == '{"name": "open"}'
    assert str(caught.value).endswith("answer with one JSON object of that form")


def test_the_number_of_attempts_can_be_set(serve: Serve) -> None:
    model, server = serve(["{}", Stall()])
    with pytest.raises(ReplyRejected, match="after 1 attempt:"):
        ask_for(model, ASKED, Action, attempts=1)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Say('{"name": "grab", "tar', finish="length"), "cut off at the length limit"),
        (Say(None, finish="tool_calls"), "it is empty; it called a tool, and there are none"),
        (Say(None, message={"refusal": "no"}), "it declines to answer"),
        (Say(""), "it is empty"),
        (Say("<think>for ever and ever"), "Invalid JSON"),
        (Say('{"name": "grab", "target": "\ud800"}'), None),
        (Say("[" * 50_000), "recursion limit"),
    ],
)
def test_the_retry_prompt_states_the_finish_reason(serve: Serve, reply: Say, reason: str | None) -> None:
    model, server = serve([reply, GOOD])
    ask_for(model, ASKED, Action)
    complaints = [request["messages"][-1]["content"] for request in server.requests[1:]]
    assert len(complaints) == (0 if reason is None else 1)
    assert all(reason is not None and reason in complaint for complaint in complaints)
    assert all(turn["content"] for request in server.requests for turn in request["messages"]), "no empty turn is sent"


def test_long_replies_are_truncated_in_the_retry_prompt(serve: Serve) -> None:
    model, server = serve(["x" * 100_000, GOOD])
    ask_for(model, ASKED, Action)
    assert len(server.requests[1]["messages"][2]["content"]) == 4_000
    model, server = serve([Say("x" * 1_000, finish="length"), GOOD])
    ask_for(model, ASKED, Action)
    assert len(server.requests[1]["messages"][2]["content"]) == CUT_OFF_ECHO, "a model goes on with what it sees"


@pytest.mark.parametrize("is_text", [False, True])
def test_a_reply_that_is_too_long_to_be_told_again_is_asked_again(serve: Serve, *, is_text: bool) -> None:
    """Kind: what a model says at length is in every prompt after it, which grow beyond what it can read."""
    model, server = serve([GOOD.replace("soap", "so" * 50_000), GOOD])
    found = ask_in_text(model, ASKED, str)[0] if is_text else ask_for(model, ASKED, Action)[0]
    assert found == (GOOD if is_text else Action(name="grab", target="soap"))
    assert "it has 100,030 characters, over 40,000: be briefer" in server.requests[1]["messages"][-1]["content"]


def test_the_list_of_mistakes_is_bounded(serve: Serve) -> None:
    actions = ", ".join(['{"name": "fly", "target": "x"}'] * 9)
    model, server = serve([f'{{"title": "t", "choice": {{"kind": "done"}}, "path": [{actions}]}}', Stall()])
    with pytest.raises(ReplyRejected, match=r"\$\.path\[4\]\.name: .*; and 4 more"):
        ask_for(model, ASKED, Decision, attempts=1)
    assert len(server.requests) == 1


def test_settings_of_a_request_are_kept(serve: Serve) -> None:
    model, server = serve([GOOD])
    ask_for(model, Request(ASKED, temperature=0.7, max_tokens=50), Action)
    assert (server.requests[0]["temperature"], server.requests[0]["max_tokens"]) == (0.7, 50)


def test_default_settings_are_sent(serve: Serve) -> None:
    model, server = serve([GOOD])
    ask_for(model, ASKED, Action)
    assert (server.requests[0]["temperature"], server.requests[0]["seed"]) == (0, 0)


def test_a_schema_is_closed_and_small() -> None:
    action = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": ["grab", "open"], "description": "what to do"},
            "target": {"type": "string"},
            "times": {"type": "integer", "minimum": 1},
        },
        "required": ["name", "target", "times"],
        "additionalProperties": False,
    }
    assert schema_of(Action) == action
    decision = schema_of(Decision)
    assert is_closed(decision)
    assert decision["properties"] == {
        "title": {"type": "string"},
        "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "choice": {"anyOf": [{"$ref": "#/$defs/Grab"}, {"$ref": "#/$defs/Done"}], "description": "one of the two"},
        "path": {"type": "array", "items": {"$ref": "#/$defs/Action"}},
    }
    assert not is_closed(schema_of(Loose)), "a map's keys are not known"
