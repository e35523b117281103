"""Nearness of words: the vectors of the extra `words`, those of a service, and nothing without either."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.chat import embeddings as module
from scenecypher.chat.embeddings import encoder_of, vectors_of
from scenecypher.errors import ModelUnavailable, UnknownReference
from scenecypher.meaning import NO_MEANING, PAUSE_S, Meaning, Vector
from scenecypher.settings import Settings
from tests.scripted_model import Fail, Raw, ScriptedModel

VECTORS = Meaning(lambda: vectors_of(Settings()))
CLASSES = ["couch", "refrigerator", "television", "garbagecan", "faucet", "table", "wine_glass", "stove"]


OPEN_CLIP = """
class Rows(list):
    def tolist(self):
        return [*self]

class Clip:
    def eval(self):
        return self
    def requires_grad_(self, requires_grad):
        assert not requires_grad
        return self
    def encode_text(self, tokens):
        return Rows([float(len(it)), 1.0] for it in tokens)

def list_pretrained_tags_by_model(name):
    return {"ViT-H-14": ["first", "second"], "ViT-gone": ["first"]}.get(name, [])

def create_model(name, pretrained):
    if name == "ViT-gone":
        raise OSError("no such host")
    assert (name, pretrained) in {("ViT-H-14", "first"), ("ViT-H-14", "second")}
    return Clip()

def get_tokenizer(name):
    return lambda texts: [[*it] for it in texts]
"""
"""A stand-in for OpenCLIP: its weights are too large for tests."""


def test_a_text_is_encoded_by_openclip_where_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused: vectors by CLIP could be compared with a text through a service only."""
    (tmp_path / "open_clip.py").write_text(OPEN_CLIP)
    module.clip_words.cache_clear()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "open_clip", raising=False)
    encoder = partial(encoder_of, Settings())
    for name in ("ViT-H-14", "ViT-H-14/second"):
        clip = encoder(name)
        assert clip is not None
        assert clip(["sofa", "it"]) == [[4.0, 1.0], [2.0, 1.0]]
    assert [encoder(it) for it in ("ViT-H-14/third", "another", "")] == [None, None, None]
    gone = encoder("ViT-gone")
    assert gone is not None
    with pytest.raises(ModelUnavailable, match=r"the weights of ViT-gone can't be loaded .no such host.; see"):
        gone(["sofa"])
    monkeypatch.undo()
    module.clip_words.cache_clear()
    sys.modules.pop("open_clip", None)


@pytest.fixture(scope="module")
def words() -> Meaning:
    """Return the vectors that the tests' environment has."""
    return Meaning(lambda: vectors_of(Settings()))


@pytest.mark.parametrize(
    ("word", "thing"),
    [
        ("sofa", "couch"),
        ("Fridge", "refrigerator"),
        ("TV", "television"),
        ("trash", "garbagecan"),
        ("tap", "faucet"),
        ("wineglass", "wine_glass"),
    ],
)
def test_an_everyday_word_finds_the_scene_s(words: Meaning, word: str, thing: str) -> None:
    assert words.nearest(word, CLASSES)[0].word == thing


def test_what_means_nothing_here_finds_nothing(words: Meaning) -> None:
    assert words.nearest("sofa", ["refrigerator", "faucet"]) == ()
    assert words.nearest("sofa", []) == ()


@given(st.text(max_size=20), st.lists(st.text(max_size=20), unique=True, max_size=6))
def test_any_text_has_cosines_of_at_most_one_in_order(text: str, known: list[str]) -> None:
    found = VECTORS.nearest(text, known, least=-1.0, limit=6)
    assert {it.word for it in found} == set(known)
    assert all(-1.001 <= it.cosine <= 1.001 for it in found)
    assert [it.cosine for it in found] == sorted((it.cosine for it in found), reverse=True)


def test_the_vectors_leave_the_program_s_logging_alone() -> None:
    code = (
        "import logging; from scenecypher.chat.embeddings import encoder_of, vectors_of; "
        "from scenecypher.settings import Settings; "
        "assert vectors_of(Settings())(['cup']); print(logging.root.handlers, logging.root.level)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[] 30\n"


def test_without_vectors_nothing_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert vectors_of(Settings()) is None
    assert NO_MEANING.nearest("sofa", CLASSES) == ()


def test_an_unknown_reference_is_told_what_the_scene_calls_it(words: Meaning) -> None:
    plain = UnknownReference("there is no 'sofa' in this scene", "sofa", ["couch", "couch_352", "cup"])
    assert str(words.explained(plain)) == "there is no 'sofa' in this scene; in this scene 'sofa' may be 'couch'"
    for other in (UnknownReference("two cups", "cup"), UnknownReference("no 'xq'", "xq", ["couch"])):
        assert words.explained(other) is other


def _vectors(*numbers: list[float]) -> Raw:
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(numbers)]
    reply = {"object": "list", "data": data, "model": "e", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return Raw(json.dumps(reply).encode())


def _settings(server: ScriptedModel) -> Settings:
    return Settings(openai_base_url=server.base_url, embedding_model="scripted", model_retries=0)


def test_a_service_is_asked_once_for_each_word() -> None:
    with ScriptedModel([_vectors([1.0, 0.0], [0.0, 2.0], [3.0, 0.1]), _vectors([0.0, 1.0])]) as server:
        settings = _settings(server)
        meaning = Meaning(lambda: vectors_of(settings))
        assert [it.word for it in meaning.nearest("sofa", ["stove", "couch"])] == ["couch"]
        assert [it.word for it in meaning.nearest("oven", ["stove", "couch"])] == ["stove"]
        assert [request["input"] for request in server.requests] == [["sofa", "stove", "couch"], ["oven"]]


@pytest.mark.parametrize("failure", [Fail(500, "down"), _vectors([1.0]), Raw(b"<html>", "text/html")])
def test_a_service_that_fails_is_told_once_and_left_alone(
    failure: Fail | Raw, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedModel([failure]) as server:
        settings = _settings(server)
        meaning = Meaning(lambda: vectors_of(settings))
        assert meaning.nearest("sofa", ["couch"]) == meaning.nearest("settee", ["couch"]) == ()
        assert len(server.requests) == 1
    assert [record.message.split(":")[0] for record in caplog.records if record.name == "scenecypher.meaning"] == [
        "words are compared by their letters alone"
    ]


def test_a_failure_that_passes_switches_meaning_off_for_a_while_only() -> None:
    """A failure that may pass ends nothing for good: one 503 switched meaning off for the life of the process."""
    now = 0.0
    with ScriptedModel([Fail(503, "busy"), _vectors([1.0, 0.0], [1.0, 0.1])]) as server:
        settings = _settings(server)
        meaning = Meaning(lambda: vectors_of(settings), clock=lambda: now)
        assert meaning.nearest("sofa", ["couch"]) == ()
        now = PAUSE_S - 1
        assert meaning.nearest("sofa", ["couch"]) == ()
        assert len(server.requests) == 1
        now = PAUSE_S
        assert [it.word for it in meaning.nearest("sofa", ["couch"])] == ["couch"]


def test_a_service_that_is_slow_holds_up_no_word_that_is_known() -> None:
    """No lock is held while a service is awaited: all threads waited for one slow answer."""
    asked, answer = Event(), Event()

    def embed(words: Sequence[str]) -> Sequence[Vector]:
        if "slow" in words:
            asked.set()
            assert answer.wait(20)
        return [[1.0, 0.0] for _ in words]

    meaning = Meaning(lambda: embed)
    meaning.nearest("sofa", ["couch"])
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(meaning.nearest, "slow", ["couch"])
        assert asked.wait(20)
        known = pool.submit(meaning.nearest, "sofa", ["couch"])
        try:
            assert [it.word for it in known.result(5)] == ["couch"]
        finally:
            answer.set()
        assert slow.result(20)
