"""Exchanges recorded over real HTTP are replayed exactly, by session and occurrence, and no others."""

from __future__ import annotations

import importlib.resources
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.chat import (
    Image,
    Message,
    Model,
    Recording,
    Replaying,
    Reply,
    Request,
    Scripted,
    ScriptedReply,
    Usage,
    ask_for,
)
from scenecypher.chat.missing import first_difference
from scenecypher.chat.model import ReplySource
from scenecypher.errors import DocumentError, InputError, ModelUnavailable
from tests.chat.conftest import Serve
from tests.chat.test_structured_reply import ASKED, GOOD, Action
from tests.scripted_model import Drop, Say, Step


def asking(text: str, **more: Any) -> Request:
    return Request((Message("system", "You know the house."), Message("user", text)), **more)


def numbered() -> Callable[[dict[str, Any]], Step]:
    """Return a different reply for each request, as a model does at a high temperature."""
    numbers = count(1)
    return lambda request: Say(f"{request['messages'][-1]['content']} {next(numbers)}", usage=(5, 2))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "tape.jsonl"


def test_equal_requests_replay_in_recorded_order(serve: Serve, tape: Path) -> None:
    model, server = serve(numbered())
    recording = Recording(model, tape).session("samples")
    samples = [recording.reply(asking("plan", temperature=0.7)) for _ in range(5)]
    assert [sample.text for sample in samples] == [f"plan {number}" for number in range(1, 6)]
    assert {sample.source for sample in samples} == {"live"}

    replaying = Replaying(tape).session("samples")
    replayed = [replaying.reply(asking("plan", temperature=0.7)) for _ in range(5)]
    assert replayed == [replace(sample, source="recorded") for sample in samples]
    assert len(server.requests) == 5, "a replay asks nobody"


def test_concurrent_sessions_replay_exactly(serve: Serve, tape: Path) -> None:
    model, _ = serve(numbered())

    def episode(model: Model) -> list[str]:
        return [model.reply(asking(text)).text for text in ("look", "look", "grab", "look")]

    names = [f"episode {number}" for number in range(12)]
    recording = Recording(model, tape)
    with ThreadPoolExecutor(12) as pool:
        recorded = list(pool.map(lambda name: episode(recording.session(name)), names))
    replaying = Replaying(tape)
    with ThreadPoolExecutor(3) as pool:
        backwards = list(pool.map(lambda name: episode(replaying.session(name)), reversed(names)))
    assert backwards[::-1] == recorded
    assert len({text for texts in recorded for text in texts}) == 48, "every reply was another"


def test_reopening_a_session_continues_its_count(serve: Serve, tape: Path) -> None:
    model, _ = serve(numbered())
    recording = Recording(model, tape)
    recorded = [recording.session("s").reply(asking("a")).text for _ in range(2)]
    replaying = Replaying(tape)
    assert [replaying.session("s").reply(asking("a")).text for _ in range(2)] == recorded


def test_a_cassette_is_readable_and_holds_the_request(serve: Serve, tape: Path) -> None:
    model, _ = serve([Say("où?\n\u2028oui", usage=(5, 2))])
    picture = Image(b"pixels", "image/png")
    request = Request((Message("user", "une tasse ☕", (picture,)),), seed=1)
    Recording(model, tape, note="written by a test").reply(request)
    heading, exchange = (json.loads(line) for line in tape.read_text("utf-8").split("\n") if line)
    assert heading == {"cassette": 1, "source": "recorded", "note": "written by a test"}
    assert exchange["request"]["messages"][0]["text"] == "une tasse ☕"
    assert exchange["request"]["messages"][0]["images"][0]["media_type"] == "image/png"
    assert (exchange["session"], exchange["occurrence"], len(exchange["request_hash"])) == ("", 1, 64)
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    assert exchange["reply"] == {"text": "où?\n\u2028oui", "model": "scripted", "finish": "stop", "usage": usage}
    assert "☕" in tape.read_text("utf-8"), "not escaped"
    assert Replaying(tape).reply(request).text == "où?\n\u2028oui"
    tape.write_bytes(tape.read_bytes().replace(b"\n", b"\r\n"))
    assert Replaying(tape).reply(request).text == "où?\n\u2028oui", "as some checkouts leave it"


def test_a_repaired_conversation_replays(serve: Serve, tape: Path) -> None:
    model, _ = serve(["{}", GOOD])
    recorded = ask_for(Recording(model, tape).session("demo"), ASKED, Action)
    assert ask_for(Replaying(tape).session("demo"), ASKED, Action) == recorded
    assert recorded == (Action(name="grab", target="soap"), Usage(22, 14))


def test_failures_are_neither_recorded_nor_counted(serve: Serve, tape: Path) -> None:
    model, _ = serve(["one", Drop(), "two"])
    recording = Recording(model, tape)
    recording.reply(asking("a"))
    with pytest.raises(ModelUnavailable):
        recording.reply(asking("a"))
    recording.reply(asking("a"))
    replaying = Replaying(tape)
    assert [replaying.reply(asking("a")).text for _ in range(2)] == ["one", "two"]


def test_a_cassette_can_be_a_package_resource(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shipped_tape"
    package.mkdir()
    (package / "__init__.py").touch()
    model, _ = serve(["hello"])
    Recording(model, package / "demo.jsonl").session("demo").reply(asking("hi"))
    monkeypatch.syspath_prepend(tmp_path)
    replaying = Replaying(importlib.resources.files("shipped_tape") / "demo.jsonl")
    assert replaying.session("demo").reply(asking("hi")).text == "hello"
    sys.modules.pop("shipped_tape")


def test_scripted_replies_keep_their_source_in_a_cassette(tape: Path) -> None:
    script = Scripted([ScriptedReply(when=("hi",), reply="hello")])
    assert Recording(script, tape).reply(asking("hi")).source == "scripted"
    replaying = Replaying(tape)
    assert replaying.reply(asking("hi")) == Reply("hello", Usage(), "scripted", source="scripted")
    assert replaying.tape.origin == "scripted"


def test_the_origin_can_be_stated_for_a_scripted_server(serve: Serve, tape: Path) -> None:
    model, _ = serve(["hello"])
    Recording(model, tape, origin="scripted").reply(asking("hi"))
    assert Replaying(tape).reply(asking("hi")).source == "scripted"


def test_a_failed_attempt_leaves_no_replies_and_uses_none_up(serve: Serve, tape: Path) -> None:
    model, server = serve(numbered())

    def attempt(service: Recording | Replaying, *, fails: bool) -> list[str]:
        texts = []
        with suppress(ModelUnavailable), service.attempt("s") as session:
            texts = [session.reply(asking(text)).text for text in ("a", "b", "a")]
            if fails:
                raise ModelUnavailable("out of order")
        return texts

    recording = Recording(model, tape)
    attempts = [attempt(recording, fails=fails) for fails in (True, False, True, False)]
    assert attempts[1] == ["a 4", "b 5", "a 6"]
    replaying = Replaying(tape)
    replayed = [attempt(replaying, fails=fails) for fails in (True, False, True, True, False)]
    assert replayed == [attempts[at] for at in (1, 1, 3, 3, 3)]
    assert len(server.requests) == 12


class ChangingSource:
    """A service whose source is scripted first and recorded later."""

    def __init__(self) -> None:
        self.sources: Iterator[ReplySource] = iter(("scripted", "recorded"))

    def session(self, name: str) -> ChangingSource:  # noqa: ARG002
        return self

    def reply(self, request: Request) -> Reply:
        return Reply(request.messages[-1].text, Usage(), "m", source=next(self.sources))


def test_scripted_and_recorded_replies_never_mix(tape: Path) -> None:
    recording = Recording(ChangingSource(), tape)
    recording.reply(asking("a"))
    with pytest.raises(InputError, match="holds scripted replies; put recorded ones in another file"):
        recording.reply(asking("b"))


@pytest.fixture
def recorded(serve: Serve, tape: Path) -> Path:
    model, _ = serve(numbered())
    recording = Recording(model, tape)
    recording.session("demo").reply(asking("Where is the soap? It was in bathroom_12."))
    recording.session("demo").reply(asking("Where is the milk?"))
    recording.session("other").reply(asking("Open the fridge."))
    return tape


SOAP_IS_MISSING = (
    "lacks request 1 of its like in session 'demo', which begins 'Where is the soap? It was in bathroom_13.'; "
    "the nearest is request 1 of its like in session 'demo', which differs at $.messages[1].text, character 39: "
    "'the soap? It was in bathroom_12.' was recorded, 'the soap? It was in bathroom_13.' is asked; record it anew"
)


@pytest.mark.parametrize(
    ("session", "request_", "says"),
    [
        (
            "demo",
            asking("Where is the soap? It was in bathroom_13."),
            SOAP_IS_MISSING,
        ),
        ("other", asking("Where is the milk?"), "it was recorded only in session 'demo'"),
        (
            "new",
            asking("Open the fridges."),
            "request 1 of its like in session 'other', which differs at $.messages[1]",
        ),
        ("demo", asking("Open the fridge!"), "the nearest is request 1 of its like in session 'demo', which differs"),
        ("demo", asking("Where is the milk?", seed=4), "$.seed: None was recorded, 4 is asked"),
        ("demo", asking("Where is the milk?", temperature=0.5), "$.temperature: 0.0 was recorded, 0.5 is asked"),
        (
            "demo",
            Request((*asking("Where is the milk?").messages, Message("assistant", "?"), Message("user", "the milk?"))),
            "differs at $.messages[2]: nothing was recorded, {'role': 'assistant', 'text': '?'} is asked",
        ),
        ("demo", asking("x" * 500), "which begins '" + "x" * 120 + "…'"),
    ],
)
def test_a_missing_reply_is_explained(recorded: Path, session: str, request_: Request, says: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        Replaying(recorded).session(session).reply(request_)
    assert str(caught.value).startswith(f"the cassette {recorded} lacks request")
    assert says in str(caught.value)
    assert str(caught.value).endswith("record it anew with a live model (set OPENAI_API_KEY or OPENAI_BASE_URL)")
    assert not caught.value.retryable


def test_an_extra_request_is_explained(recorded: Path) -> None:
    session = Replaying(recorded).session("other")
    session.reply(asking("Open the fridge."))
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r"lacks request 2 of its like .*; it was recorded once there"):
            session.reply(asking("Open the fridge."))


def test_the_error_locates_the_change_of_a_prompt(recorded: Path) -> None:
    request = asking("Where is the milk?")
    changed = replace(request, messages=(Message("system", "You know the home."), *request.messages[1:]))
    with pytest.raises(ModelUnavailable, match=r"\$\.messages\[0\]\.text, character 15: .*'You know the house\.'"):
        Replaying(recorded).session("demo").reply(changed)


json_values = st.recursive(
    st.none() | st.integers(0, 3) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("kl", max_size=1), inner, max_size=2),
    max_leaves=8,
)


@given(json_values, json_values)
def test_first_difference_finds_every_difference(recorded: object, asked: object) -> None:
    if recorded != asked:
        words = first_difference(recorded, asked)
        assert words.startswith("$")
        assert words.endswith(" is asked")


HEADING = '{"cassette": 1, "source": "recorded"}\n'
EXCHANGE = '{"session": "s", "occurrence": 1, "request": {"messages": []}, "reply": {"text": "t", "model": "m"}}'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "line 1: the cassette is empty"),
        ("\n\n", "line 1: the cassette is empty"),
        ("hello", "line 1, $: Invalid JSON"),
        ('{"cassette": 2, "source": "recorded"}', "line 1, $.cassette: Input should be 1"),
        ('{"cassette": 1, "source": "oracle"}', "line 1, $.source: Input should be"),
        (HEADING + EXCHANGE[:50], "line 2, $: Invalid JSON"),
        (HEADING + EXCHANGE.replace('"m"', "3"), "line 2, $.reply.model: Input should be a valid string"),
        (HEADING + EXCHANGE.replace("1", "0"), "line 2, $.occurrence: Input should be greater"),
        (HEADING + EXCHANGE.replace('"session"', '"sesion"'), "line 2, $.session: Field required"),
        (f"{HEADING}{EXCHANGE}\n{EXCHANGE}\n", "line 3: the same exchange stands twice"),
        (HEADING + EXCHANGE[:-1] + ', "request_hash": "0"}', "line 2: the request is not the one that was recorded"),
    ],
)
def test_the_error_names_the_broken_line(tape: Path, content: str, says: str) -> None:
    tape.write_text(content)
    with pytest.raises(DocumentError) as caught:
        Replaying(tape).reply(asking("a"))
    assert f"{tape}: {says}" in str(caught.value)


def test_a_cassette_may_be_written_by_hand(tape: Path) -> None:
    tape.write_text(HEADING.replace("recorded", "scripted") + EXCHANGE)
    assert next(iter(Replaying(tape).tape.exchanges.values())).reply == Reply("t", Usage(), "m", source="scripted")


def test_an_empty_cassette_has_no_replies(tape: Path) -> None:
    tape.write_text(HEADING)
    with pytest.raises(ModelUnavailable, match="the cassette holds no exchange"):
        Replaying(tape).reply(asking("a"))


def test_files_that_cannot_be_used(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"can't read the cassette .*; check its path"):
        Replaying(tmp_path / "none.jsonl").reply(asking("a"))
    (tmp_path / "there.jsonl").touch()
    model, _ = serve(["one", "two"])
    with pytest.raises(InputError, match="exists; delete it"):
        Recording(model, tmp_path / "there.jsonl").reply(asking("a"))
    with pytest.raises(InputError, match="choose a file in a folder that exists"):
        Recording(model, tmp_path / "none" / "tape.jsonl").reply(asking("a"))


def test_nothing_is_read_or_written_before_it_is_needed(serve: Serve, tape: Path) -> None:
    model, _ = serve([])
    Replaying(tape).session("a")
    Recording(model, tape).session("a")
    assert not tape.exists()
