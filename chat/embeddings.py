"""Where vectors of words come from: the wheel of `wordllama`, OpenCLIP's text encoders, or a service's embeddings."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from scenecypher.chat.endpoint import OPENAI_URL, Endpoint
from scenecypher.errors import ModelUnavailable
from scenecypher.meaning import Embed, Vector
from scenecypher.settings import Settings

WORDS_MODEL: Final = "wordllama"
"""The model that a scene names whose vectors are those of words."""


def encoder_of(settings: Settings, model: str) -> Embed | None:
    """Return what makes vectors as a model does: the service for the configured one, else here; None for another."""
    if model and model == settings.embedding_model:
        return _service(settings, model)
    return local_words() if model == WORDS_MODEL else clip_words(model)


@cache
def clip_words(model: str) -> Embed | None:
    """Return the text encoder of one of OpenCLIP's models, of which the first use loads the weights.

    It is named as there, with its weights or without: ``ViT-H-14/laion2b_s32b_b79k``, or ``ViT-H-14`` for the first
    that OpenCLIP lists. None for any other model, and without the extra `vectors`.
    """
    if find_spec("open_clip") is None:
        return None
    import open_clip

    name, _, chosen = model.partition("/")
    known = open_clip.list_pretrained_tags_by_model(name)
    if not known or chosen not in {"", *known}:
        return None

    @cache
    def loaded() -> Any:
        try:
            clip = open_clip.create_model(name, pretrained=chosen or known[0])
            return clip.eval().requires_grad_(requires_grad=False), open_clip.get_tokenizer(name)
        except (OSError, RuntimeError) as error:
            why = f"the weights of {model} can't be loaded ({str(error)[:300]})"
            raise ModelUnavailable(f"{why}; see that they can be fetched, or use a service") from error

    def embed(texts: Sequence[str]) -> Sequence[Vector]:
        clip, tokenize = loaded()
        return [*clip.encode_text(tokenize([*texts])).tolist()]

    return embed


def local_words() -> Embed | None:
    """Return the vectors of words that come with the package; None where `wordllama` was left out."""
    return _local() if find_spec("wordllama") else None


def vectors_of(settings: Settings) -> Embed | None:
    """Return the configured vectors: of the embeddings service if one is named, else `wordllama`'s, or none."""
    return encoder_of(settings, settings.embedding_model or WORDS_MODEL)


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
