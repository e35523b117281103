"""The live model over real HTTP: requests, replies, and each failure of a service."""

from __future__ import annotations

import logging
import subprocess
import sys
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from scenecypher.chat import Image, Message, OpenAIModel, Reply, Request, Usage
from scenecypher.errors import InputError, ModelUnavailable
from scenecypher.settings import Settings
from tests.chat.conftest import Serve, model_of
from tests.scripted_model import Drop, Fail, Raw, Say, ScriptedModel, Stall, Step

HELLO = Request((Message("user", "hello"),))
FORM = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def test_a_reply_carries_text_usage_model_and_source(serve: Serve) -> None:
    model, _ = serve([Say("good day", usage=(3, 2))])
    assert model.reply(HELLO) == Reply("good day", Usage(3, 2), "scripted", source="live", finish="stop")


def test_a_request_is_sent_whole(serve: Serve) -> None:
    model, server = serve(["{}"])
    picture = Image(b"\x89PNG\r\n", "image/png")
    conversation = (Message("system", "be brief"), Message("user", "what is on it? ☕", (picture,)))
    model.reply(Request(conversation, schema=FORM, temperature=0.7, seed=3, max_tokens=99))
    sent = server.requests[0]
    url = f"data:image/png;base64,{b64encode(picture.data).decode()}"
    assert sent == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "be brief"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "what is on it? ☕"},
                    {"type": "image_url", "image_url": {"url": url}},
                ],
            },
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": FORM, "strict": True}},
        "temperature": 0.7,
        "seed": 3,
        "max_tokens": 99,
    }
    assert server.headers[0]["authorization"] == "Bearer a-key"


def test_unset_parameters_are_not_sent(serve: Serve) -> None:
    model, server = serve(["hello"])
    model.reply(Request((Message("user", "hello"),), temperature=None))
    assert server.requests == [{"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}]


def test_an_open_schema_is_not_sent_as_strict(serve: Serve) -> None:
    model, server = serve(["{}"])
    model.reply(Request(HELLO.messages, schema={"type": "object", "additionalProperties": {"type": "string"}}))
    assert server.requests[0]["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize(
    ("step", "text", "finish"),
    [
        (Say("cut of", finish="length"), "cut of", "length"),
        (Say(None, finish="tool_calls", message={"tool_calls": [{"id": "1", "type": "function"}]}), "", "tool_call"),
        (Say(None, message={"refusal": "I'd rather not"}), "I'd rather not", "refusal"),
        (Say(None, finish="content_filter"), "", "filtered"),
        (Say(None, finish="eos", message={"reasoning_content": "hm"}), "", "stop"),
        (Say(None, message={"content": [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]}),
         "in parts", "stop"),
        (Say("half a pair: \ud83d, a pair: \ud83d\ude00"), "half a pair: \ufffd, a pair: 😀", "stop"),
    ],
)  # fmt: skip
def test_unusual_answers_are_parsed(serve: Serve, step: Say, text: str, finish: str) -> None:
    model, _ = serve([step])
    reply = model.reply(HELLO)
    assert (reply.text, reply.finish, reply.usage) == (text, finish, Usage(11, 7))


def test_missing_usage_counts_as_zero_and_is_logged_once(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    model, _ = serve([Say("a", usage=None), Say("b", usage=None)])
    assert model.reply(HELLO).usage + model.reply(HELLO).usage == Usage(0, 0)
    assert [record.getMessage() for record in caplog.records if record.name == "scenecypher.chat"] == [
        "model 'scripted' reports no token usage: its tokens count as 0"
    ]


@pytest.mark.parametrize(
    ("step", "says", "retryable"),
    [
        (Fail(401, "Incorrect API key provided"), "401: Incorrect API key provided; set OPENAI_API_KEY", False),
        (Fail(403, "not yours"), "set OPENAI_API_KEY to a key that it takes", False),
        (Fail(402, "no credit"), "check the account", False),
        (Fail(413, "too large"), "413: too large", False),
        (Fail(429, "slow down"), "429: slow down; wait, or run fewer episodes at once", True),
        (Fail(429, "quota", code="insufficient_quota"), "look at the account's balance", False),
        (Fail(400, "maximum context length is 512 tokens"), "mend what it names, or choose another model", False),
        (Fail(500, "out of memory"), "500: out of memory; try again later", True),
        (Fail(503, "loading model"), "503: loading model; try again later", True),
        (Drop(), "can't reach the model service at http://127.0.0.1", True),
        (Drop(halfway=True), "can't reach the model service at http://127.0.0.1", True),
        (Raw(b'{"choices": [{"mess'), "not of the chat-completions protocol (it begins '{\"choices\": [{", True),
        (Raw(b"<html>login</html>", "text/html"), "check that OPENAI_BASE_URL is an OpenAI-compatible address", True),
        (Raw(b""), "and ends with nothing", True),
        (Raw(b"\xff\xfe"), "not of the chat-completions protocol", True),
        (Raw(b"[" * 100_000), "not of the chat-completions protocol", True),
        (Raw(b'{"choices": [{"message": {"content": 3}}]}'), "not of the chat-completions protocol", True),
        (Raw(b'{"choices": []}'), "model 'scripted' answered without a choice; try again", True),
        (Raw(b'{"error": {"message": "upstream"}}'), 'without a choice: {"message": "upstream"}', True),
    ],
)  # fmt: skip
def test_a_failure_says_what_to_do(serve: Serve, step: Step, says: str, *, retryable: bool) -> None:
    model, _ = serve([step])
    with pytest.raises(ModelUnavailable) as caught:
        model.reply(HELLO)
    assert says in str(caught.value)
    assert caught.value.retryable is retryable
    assert "a-key" not in str(caught.value)


def test_a_silent_service_times_out() -> None:
    with ScriptedModel([Stall(), Stall()]) as server, model_of(server, timeout_s=0.2, retries=1) as model:
        with pytest.raises(ModelUnavailable, match=r"no answer within 0\.2 s, asked 2 times") as caught:
            model.reply(HELLO)
        assert caught.value.retryable
        assert len(server.requests) == 2


def test_a_shorter_timeout_disables_retries() -> None:
    with ScriptedModel([Stall(), "in time"]) as server, model_of(server, retries=1) as model:
        with pytest.raises(ModelUnavailable, match=r"no answer within 0\.2 s, asked (1 time|once)"):
            model.reply(replace(HELLO, timeout_s=0.2))
        assert len(server.requests) == 1
        assert model.reply(replace(HELLO, timeout_s=1e6)).text == "in time", "no longer than usual"


@pytest.mark.parametrize("fault", [Fail(429, "slow down"), Fail(500, "oops"), Drop(), Drop(halfway=True)])
def test_transient_failures_are_retried(fault: Step) -> None:
    with ScriptedModel([fault, "at last"]) as server, model_of(server, retries=1) as model:
        assert model.reply(HELLO).text == "at last"


def test_an_unreachable_service_is_an_error() -> None:
    with ScriptedModel([]) as server:
        url = server.base_url
    with OpenAIModel(base_url=url, model="m", retries=0) as model, pytest.raises(ModelUnavailable, match="see that it"):
        model.reply(HELLO)


def test_an_unknown_model_error_lists_the_known_models() -> None:
    script = ScriptedModel([], models=("llama-3.1-8b", "qwen-3"))
    with script as server, model_of(server, model="llama-3-8b") as model, pytest.raises(ModelUnavailable) as caught:
        model.reply(HELLO)
    assert "has no model 'llama-3-8b' (did you mean 'llama-3.1-8b'?)" in str(caught.value)
    assert str(caught.value).endswith("set SCENECYPHER_MODEL to one that it has: llama-3.1-8b, qwen-3")


def test_a_base_url_without_its_path_is_explained() -> None:
    server = ScriptedModel([])
    with (
        server,
        OpenAIModel(base_url=server.base_url.removesuffix("/v1"), model="scripted") as model,
        pytest.raises(ModelUnavailable, match="which usually ends in /v1"),
    ):
        model.reply(HELLO)


def test_no_key_and_no_address() -> None:
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY, or OPENAI_BASE_URL"):
        OpenAIModel(model="gpt-4o").reply(HELLO)


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "http://[::1"]
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="write it like http://"):
        OpenAIModel(base_url=url, model="m")


@pytest.mark.parametrize("key", ["ké", "two\nlines"])
def test_an_invalid_key_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="copy it again") as caught:
        OpenAIModel(api_key=key, model="m")
    assert key not in str(caught.value)


def test_the_address_is_shown_without_its_password(serve: Serve) -> None:
    _, server = serve([Fail(401, "no")])
    url = server.base_url.replace("127.0.0.1", "ann:secret@127.0.0.1")
    with OpenAIModel(base_url=url, model="scripted", retries=0) as model, pytest.raises(ModelUnavailable) as caught:
        model.reply(HELLO)
    assert "secret" not in str(caught.value)


def test_settings_name_the_model(serve: Serve) -> None:
    _, server = serve(["hello"])
    settings = Settings(openai_base_url=server.base_url, openai_api_key=" k \n", model="scripted")
    with OpenAIModel.from_settings(settings) as model:
        assert model.session("any").reply(HELLO).model == "scripted"
    assert server.headers[0]["authorization"] == "Bearer k"


SCHEMA_REFUSALS = [
    (400, "'response_format.type' must be 'json_object' or 'text'"),
    (400, "This model does not support response format `json_schema`."),
    (422, "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]"),
    (400, "The provided JSON schema contains features not supported by xgrammar."),
    (500, "failed to parse grammar"),
]


@pytest.mark.parametrize(("status", "words"), SCHEMA_REFUSALS)
def test_a_schema_that_is_refused_goes_into_the_prompt(
    serve: Serve, caplog: pytest.LogCaptureFixture, status: int, words: str
) -> None:
    model, server = serve([Fail(status, words), '{"a": 1}', '{"a": 2}'])
    request = Request((Message("system", "be brief"), Message("user", "how many?")), schema=FORM)
    assert [model.reply(request).text, model.reply(request).text] == ['{"a": 1}', '{"a": 2}']
    asked = ["response_format" in sent for sent in server.requests]
    assert asked == [True, False, False], "it is remembered after the first refusal"
    assert '"a": {"type": "integer"}' in server.requests[1]["messages"][1]["content"]
    assert server.requests[1]["messages"][1]["content"].startswith("how many?\n\n")
    assert server.requests[1] == server.requests[2]
    told = [record for record in caplog.records if record.name == "scenecypher.chat"]
    assert [record.levelno for record in told] == [logging.WARNING]
    assert "the JSON schema is written into the prompt" in told[0].getMessage()


def picky(request: dict[str, Any]) -> Step:
    """Return the script of a service with the restrictions of reasoning models."""
    for name in ("max_tokens", "temperature", "seed"):
        if name in request:
            return Fail(400, f"Unsupported parameter: '{name}' is not supported with this model.")
    return "well"


def test_refused_parameters_are_left_out(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    model, server = serve(picky)
    assert model.reply(Request(HELLO.messages, seed=1, max_tokens=9)).text == "well"
    assert set(server.requests[-1]) == {"model", "messages", "max_completion_tokens"}
    assert len([record for record in caplog.records if record.name == "scenecypher.chat"]) == 3


@pytest.mark.parametrize(
    "words",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 5000",
        "Invalid 'temperature': decimal above maximum value",
        "Invalid value for 'seed': expected an integer",
    ],
)
def test_a_wrong_value_has_no_fallback(serve: Serve, words: str) -> None:
    model, server = serve([Fail(400, words)])
    with pytest.raises(ModelUnavailable):
        model.reply(Request(HELLO.messages, seed=1, max_tokens=5000))
    assert len(server.requests) == 1


def test_many_threads_share_one_model(serve: Serve) -> None:
    model, server = serve(lambda request: Say(request["messages"][0]["content"].upper(), after_s=0.01))
    asked = [f"word {number}" for number in range(64)]
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda text: model.reply(Request((Message("user", text),))).text, asked))
    assert replies == [text.upper() for text in asked]
    assert len(server.requests) == 64


def test_concurrent_fallbacks_all_get_an_answer(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    model, _ = serve(picky)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda seed: model.reply(Request(HELLO.messages, seed=seed)).text, range(32)))
    assert replies == ["well"] * 32
    assert len([record for record in caplog.records if record.name == "scenecypher.chat"]) == 2, "each told once"


def test_a_closed_model_reconnects(serve: Serve) -> None:
    model, _ = serve(["one", "two"])
    assert model.reply(HELLO).text == "one"
    model.close()
    assert model.reply(HELLO).text == "two"


def test_importing_chat_does_not_import_openai() -> None:
    code = "import sys, chat; chat.OpenAIModel(model='m', api_key='k'); print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_text_that_no_service_can_be_sent() -> None:
    with pytest.raises(InputError, match="half a surrogate pair at character 5"):
        Message("user", "where\ud800?")


@pytest.mark.parametrize(
    "url", ["ftp://anna:hunter2@gateway/v1", "http://anna:hunter2@gateway:port/v1", "anna:hunter2@x"]
)
def test_a_password_in_a_wrong_address_is_not_shown(url: str) -> None:
    """An address that cannot be used was printed as it was given, with the password in it."""
    with pytest.raises(InputError) as refused:
        OpenAIModel(model="some", base_url=url)
    assert "hunter2" not in str(refused.value)
    assert "is no HTTP address" in str(refused.value)
