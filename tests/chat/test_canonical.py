"""Equal requests have equal hashes on every machine; every difference that a model sees changes the hash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.chat import Image, Message, Request, request_hash
from scenecypher.chat.canonical import canonical, canonical_text
from scenecypher.errors import InputError

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
images = st.builds(Image, st.binary(max_size=8), st.sampled_from(["image/png", "image/jpeg"]))
messages = st.builds(
    Message, st.sampled_from(["system", "user", "assistant"]), texts, st.lists(images, max_size=2).map(tuple)
)
leaves: st.SearchStrategy[dict[str, Any]] = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"enum": ["a"]}])
schemas: st.SearchStrategy[dict[str, Any]] = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(texts, inner, max_size=3)},
        optional={"description": texts, "additionalProperties": st.just(value=False)},
    ),
    max_leaves=6,
)
requests = st.builds(
    Request,
    st.lists(messages, min_size=1, max_size=3).map(tuple),
    schema=st.none() | schemas,
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(-5, 5),
    max_tokens=st.none() | st.integers(1, 9),
    model=st.none() | texts,
)


def reordered(value: Any) -> Any:
    """Return the same schema with its keywords reversed; only properties keep their order."""
    if not isinstance(value, dict):
        return value
    keywords = reversed(value.items())
    return {
        key: {name: reordered(inner) for name, inner in part.items()} if key == "properties" else reordered(part)
        for key, part in keywords
    }


@given(requests)
def test_keyword_order_does_not_change_the_hash(request: Request) -> None:
    assert request_hash(replace(request, schema=reordered(request.schema))) == request_hash(request)


@given(requests, requests)
def test_hashes_are_equal_iff_requests_are(one: Request, other: Request) -> None:
    seen_alike = one == other and json.dumps(one.schema) == json.dumps(other.schema)
    if seen_alike:
        assert request_hash(one) == request_hash(other)
    if one != other:
        assert request_hash(one) != request_hash(other)


@given(requests)
def test_the_canonical_form_survives_json(request: Request) -> None:
    text = canonical_text(canonical(request))
    assert canonical_text(json.loads(text)) == text
    assert text.isascii()


@given(requests, st.integers(0, 10))
def test_each_field_changes_the_hash(request: Request, seed: int) -> None:
    first = request.messages[0]
    changed = [
        replace(request, messages=(replace(first, text=first.text + "x"), *request.messages[1:])),
        replace(request, messages=(*request.messages, first)),
        replace(
            request, messages=(replace(first, images=(*first.images, Image(b"", "image/png"))), *request.messages[1:])
        ),
        replace(request, model=(request.model or "") + "x"),
        replace(request, max_tokens=(request.max_tokens or 0) + 1),
        replace(request, seed=None if request.seed == seed else seed)
        if request.seed != seed
        else replace(request, seed=99),
        replace(request, temperature=None if request.temperature is not None else 0.5),
    ]
    hashes = {request_hash(one) for one in [request, *changed]}
    assert len(hashes) == len(changed) + 1


def test_property_order_changes_the_hash() -> None:
    one = Request((Message("user", "?"),), schema={"properties": {"why": {}, "what": {}}})
    assert request_hash(one) != request_hash(replace(one, schema={"properties": {"what": {}, "why": {}}}))


@pytest.mark.parametrize("temperature", [0, 0.0, -0.0])
def test_all_zero_temperatures_hash_equal(temperature: float) -> None:
    assert request_hash(Request((Message("user", "?"),), temperature=temperature)) == request_hash(
        Request((Message("user", "?"),))
    )


@pytest.mark.parametrize("temperature", [-1, 2.5, float("nan"), float("inf")])
def test_an_invalid_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(InputError, match="choose one from 0 to 2"):
        Request((Message("user", "?"),), temperature=temperature)


def test_a_request_without_messages_is_refused() -> None:
    with pytest.raises(InputError, match="at least one message"):
        Request(())


def test_the_hash_is_the_same_in_every_process() -> None:
    code = (
        "from chat import *\n"
        "form = {'type': 'object', 'properties': {'b': {}, 'a': {}}}\n"
        "print(request_hash(Request((Message('user', 'où? 😀', (Image(b'1', 'image/png'),)),), schema=form, seed=0)))"
    )
    hashes = set()
    for seed in ("0", "1", "random"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        hashes.add(done.stdout.strip())
    assert hashes == {"55df61807bb7f049baea89f003db83b028784831d3cfa92b7ba4ada72b1595c6"}
