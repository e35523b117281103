"""The canonical form of a request and its hash: equal requests have equal hashes on every machine and Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from scenecypher.chat.model import Image, Message, Request
from scenecypher.db.graph.value import digest


def canonical(request: Request) -> dict[str, object]:
    """Return the request as a JSON object: images by their SHA-256, a schema's properties as ordered pairs.

    The order of properties is kept, since models write them in that order; no other order has a meaning.
    """
    return {
        "messages": [_message(message) for message in request.messages],
        "schema": None if request.schema is None else _ordered(request.schema),
        "temperature": None if request.temperature is None else request.temperature + 0.0,  # 0, -0.0 and 0.0 are equal
        "seed": request.seed,
        "max_tokens": request.max_tokens,
        "model": request.model,
    }


def canonical_text(value: object) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_hash(canonical_request: Mapping[str, object]) -> str:
    """Return the SHA-256 of a canonical form as 64 hexadecimal digits."""
    return digest(canonical_text(canonical_request))


def request_hash(request: Request) -> str:
    """Return the key of a request in cassettes."""
    return canonical_hash(canonical(request))


def _message(message: Message) -> dict[str, object]:
    plain: dict[str, object] = {"role": message.role, "text": message.text}
    return plain | {"images": [_image(image) for image in message.images]} if message.images else plain


def _image(image: Image) -> dict[str, object]:
    return {"media_type": image.media_type, "sha256": sha256(image.data).hexdigest()}


def _ordered(schema: object) -> object:
    match schema:
        case Mapping():
            return {
                str(key): _pairs(value) if key == "properties" else _ordered(value) for key, value in schema.items()
            }
        case list() | tuple():
            return [_ordered(item) for item in schema]
        case _:
            return schema


def _pairs(properties: object) -> object:
    if not isinstance(properties, Mapping):
        return _ordered(properties)
    return [[str(name), _ordered(value)] for name, value in properties.items()]
