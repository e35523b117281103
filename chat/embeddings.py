"""Where vectors of words come from: the wheel of `wordllama`, or a service's embeddings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scenecypher.chat.endpoint import OPENAI_URL, Endpoint
from scenecypher.meaning import Embed, Vector
from scenecypher.settings import Settings

WORDS_MODEL: Final = "wordllama"
"""The model that a scene names whose vectors are those of words."""


def encoders_of(settings: Settings) -> Callable[[str], Embed | None]:
    """Return what gives, by a model's name, what makes vectors as it does: the service for its model, and of words."""

    def encoder(model: str) -> Embed | None:
        if model and model == settings.embedding_model:
            return _service(settings, model)
        return local_words() if model == WORDS_MODEL else None

    return encoder


def local_words() -> Embed | None:
    """Return the vectors of words that come with the package; None where `wordllama` was left out."""
    return _local() if find_spec("wordllama") else None


def vectors_of(settings: Settings) -> Embed | None:
    """Return the configured vectors: of the embeddings service if one is named, else `wordllama`'s, or none."""
    if settings.embedding_model is not None:
        return _service(settings, settings.embedding_model)
    return local_words()


@cache
def _local() -> Embed:
    """Load the vectors inside the wheel of `wordllama`: 0.7 s of processor time and 120 MB."""
    handlers, level = [*logging.root.handlers], logging.root.level
    import wordllama

    # Its import sets up logging for the whole program, which is not its business.
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    # The wheel has its tokenizer in a folder that its loader takes for a cache; nothing is downloaded.
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda words: [[float(number) for number in row] for row in model.embed(list(words))]


def _service(settings: Settings, model: str) -> Embed:
    from scenecypher.chat.client import Client  # imports `openai`, which takes a second

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    url, timeout_s = settings.openai_base_url or OPENAI_URL, settings.model_timeout_s
    endpoint = Endpoint(url, key, timeout_s, tries=1 + settings.model_retries)

    def embed(words: Sequence[str]) -> Sequence[Vector]:
        with closing(Client(endpoint)) as client:
            return client.embed(words, model=model)

    return embed
