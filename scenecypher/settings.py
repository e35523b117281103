"""Settings, read once from the environment and `.env` by the caller's entry point, then passed down."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from platformdirs import user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from scenecypher.errors import InputError, did_you_mean

PREFIX: Final = "SCENECYPHER_"


Prices: TypeAlias = Annotated[
    dict[str, tuple[float, float]],
    BeforeValidator(lambda given: json.loads(given) if isinstance(given, str) else given),
]
"""Dollars for a million tokens of prompts, and of replies, by model; a text is JSON."""
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=1_000_000)]


HOST_AND_PORT: Final = re.compile(r"[^:]*(:\d*)?|\[.*\](:\d*)?")


class Settings(BaseModel):
    """All settings; each is given by its name, or in its environment variable.

    The variable of `heap_mb` is SCENECYPHER_HEAP_MB; those of `neo4j_…` and `openai_…` have no prefix. Times are in
    seconds on the clock (`engine_timeout_s`: of the processor), sizes in bytes unless the name says otherwise. Raises
    InputError for an invalid value or an unknown name.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)
    env_file: ClassVar[Path | None] = Path(".env")

    neo4j_uri: str | None = None
    neo4j_username: str = "neo4j"
    neo4j_password: SecretStr | None = None
    neo4j_database: str = "neo4j"
    neo4j_ca_file: Path | None = None

    home: Path = Field(default_factory=lambda: user_data_path("scenecypher"))
    heap_mb: int = Field(default=512, ge=256)
    server_jars: Path | None = None
    page_cache_mb: int = Field(default=128, ge=32)
    short_run: bool = False

    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    model: str = "gpt-4o-2024-08-06"
    model_timeout_s: Seconds = 120.0
    model_retries: int = Field(default=2, ge=0, le=100)
    vision_model: str | None = None
    embedding_model: str | None = None
    accept_looks: bool = False

    mcp_token: SecretStr | None = Field(default=None, min_length=16)

    query_timeout_s: Seconds = 10.0
    query_rows: int = Field(default=1_000, gt=0)
    query_bytes: int = Field(default=1_000_000, gt=0)
    query_row_bytes: int = Field(default=200_000, gt=0)
    query_text_length: int = Field(default=4_000, gt=0)
    query_nesting: int = Field(default=40, gt=0, le=80)
    query_planning_s: Seconds = 20.0
    query_steps: float = Field(default=30_000_000, gt=0)
    query_lost_s: Seconds = 20.0
    query_slots: int | None = Field(default=None, gt=0)
    query_cheap_steps: float = Field(default=1_000_000, ge=0)

    engine_timeout_s: Seconds = 30.0
    connect_timeout_s: Seconds = 10.0
    read_timeout_s: Seconds = 30.0
    commit_timeout_s: Seconds = 30.0
    retry_s: float = Field(default=15.0, ge=0, le=1_000_000)

    kept_members: int = Field(default=300_000, gt=0)

    record_runs: bool = True
    record_episodes: bool = False
    sample_retries: int = Field(default=2, ge=0, le=100)
    model_prices: Prices = Field(default_factory=dict)
    keep_days: float = Field(default=365.0, ge=0, le=1_000_000)
    keep_runs: int = Field(default=10_000, ge=0)

    def __init__(self, **given: object) -> None:
        _check_names(given)
        values: dict[str, Any] = _from_environment(self.env_file) | given
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InputError(_message(error, given)) from None

    @property
    def live_model(self) -> bool:
        """Return True if a model service is configured: an API key, or the URL of another server."""
        return self.openai_api_key is not None or self.openai_base_url is not None


def without_password(url: str) -> str:
    """Return an address without the user and password that it may hold, to be shown; it need not be well-formed."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in place:
        rest = rest[place.rindex("@") + 1 :]
    elif not HOST_AND_PORT.fullmatch(place):  # a password with one of these characters
        rest = rest.rpartition("@")[2]
    return scheme + separator + rest


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return name.upper() if name.startswith(("neo4j_", "openai_")) else f"{PREFIX}{name.upper()}"


def _check_names(given: Mapping[str, object]) -> None:
    unknown = [name for name in given if name not in Settings.model_fields]
    if unknown:
        hint = did_you_mean(unknown[0], tuple(Settings.model_fields))
        raise InputError(f"there is no setting {unknown[0]!r}{hint}; `help(scenecypher.Settings)` lists them")


def _from_environment(file: Path | None) -> dict[str, Any]:
    """Return the settings of the environment, then those of the file; an empty text sets nothing."""
    found = {name.upper(): text for texts in (_in_file(file), os.environ) for name, text in texts.items() if text}
    variables = {variable_of(name): name for name in Settings.model_fields}
    _check_spelling(sorted(found.keys() - variables.keys()))
    return {name: found[variable] for variable, name in variables.items() if variable in found}


def _check_spelling(unknown: Iterable[str]) -> None:
    """Refuse a variable with our prefix that is near to one of ours; others may be other programs', or our tests'."""
    for variable in unknown:
        stem = variable.removeprefix(PREFIX)
        is_ours = variable.startswith(PREFIX) and not stem.startswith("TEST_")
        near = get_close_matches(stem.lower(), tuple(Settings.model_fields), n=1) if is_ours else ()
        if near:
            meant = variable_of(near[0])
            raise InputError(
                f"there is no setting {variable}, did you mean {meant}? Correct it in the environment or .env"
            )


def _in_file(file: Path | None) -> Mapping[str, str | None]:
    if file is None or not file.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return dotenv_values(file)
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8: save it as such, or delete it") from error


def _message(error: ValidationError, given: Mapping[str, object]) -> str:
    """Return the invalid settings with their causes."""
    found = {str(it["loc"][0]): it for it in error.errors(include_url=False, include_context=False)}
    causes = {name: it["msg"][0].lower() + it["msg"][1:] for name, it in found.items()}
    problems = [
        f"{name if name in given else variable_of(name)} {_given(name, it['input'])}: {causes[name]}"
        for name, it in found.items()
    ]
    where = "" if given.keys() >= found.keys() else " in the environment or in .env"
    return f"{'; '.join(problems)}; correct it{where}"


def _given(name: str, value: object) -> str:
    """Return what was given for a setting; a secret is not shown."""
    is_secret = "SecretStr" in str(Settings.model_fields[name].annotation)
    return "is not accepted" if is_secret else f"is {str(value)[:60]!r}"
