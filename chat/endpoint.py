"""The address, key and time limits of a model service."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from scenecypher.errors import InputError
from scenecypher.settings import without_password

OPENAI_URL: Final = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service's address; `timeout_s` is the time limit in seconds of each of `tries` requests; `limit` grants more.

    Raises InputError for a `url` that is not an HTTP address, and for a `key` that no HTTP header can carry.
    """

    url: str
    key: str = field(repr=False)
    timeout_s: float
    tries: int
    limit: str = "SCENECYPHER_MODEL_TIMEOUT_S (`--model-timeout`)"

    def __post_init__(self) -> None:
        if not _is_http(self.url):
            shown = without_password(self.url)
            raise InputError(f"OPENAI_BASE_URL {shown!r} is no HTTP address; write it like http://127.0.0.1:8000/v1")
        if not (self.key.isascii() and self.key.isprintable()):
            raise InputError("OPENAI_API_KEY holds characters that no key has; copy it again")

    @property
    def public_url(self) -> str:
        """Return the address without the user and password that it may hold."""
        return without_password(self.url).rstrip("/")


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        return False
