"""Where vectors of words come from: the wheel of `wordllama`, or a service's embeddings."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from scenecypher.chat.endpoint import OPENAI_URL, Endpoint
from scenecypher.meaning import Embed, Vector
from scenecypher.settings import Settings


def vectors_of(settings: Settings) -> Embed | None:
    """Return the configured vectors: of the embeddings service if one is named, else `wordllama`'s, or none."""
    if settings.embedding_model is not None:
        return _service(settings, settings.embedding_model)
    return _local() if find_spec("wordllama") else None


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
