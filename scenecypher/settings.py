"""Settings, read once from the environment and `.env` by the caller's entry point, then passed down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from scenecypher.errors import InputError

Seconds: TypeAlias = Annotated[float, Field(gt=0, le=1_000_000)]


class Settings(BaseSettings):
    """All settings with their environment variables.

    Times are in seconds, sizes in bytes unless the name says otherwise. Raises InputError for invalid values.
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_prefix="SCENECYPHER_",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        frozen=True,
        allow_inf_nan=False,
    )

    neo4j_uri: str | None = Field(default=None, validation_alias="NEO4J_URI")
    neo4j_username: str = Field(default="neo4j", validation_alias="NEO4J_USERNAME")
    neo4j_password: SecretStr | None = Field(default=None, validation_alias="NEO4J_PASSWORD")
    neo4j_database: str = Field(default="neo4j", validation_alias="NEO4J_DATABASE")

    home: Path = Field(default_factory=lambda: user_data_path("scenecypher"), validation_alias="SCENECYPHER_HOME")
    heap_mb: int = Field(default=512, ge=256, validation_alias="SCENECYPHER_HEAP_MB")
    page_cache_mb: int = Field(default=128, ge=32, validation_alias="SCENECYPHER_PAGE_CACHE_MB")

    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    model: str = Field(default="gpt-4o-2024-08-06", validation_alias="SCENECYPHER_MODEL")

    query_timeout_s: Seconds = Field(default=10.0, validation_alias="SCENECYPHER_QUERY_TIMEOUT_S")
    query_rows: int = Field(default=1_000, gt=0, validation_alias="SCENECYPHER_QUERY_ROWS")
    query_bytes: int = Field(default=1_000_000, gt=0, validation_alias="SCENECYPHER_QUERY_BYTES")
    query_row_bytes: int = Field(default=200_000, gt=0, validation_alias="SCENECYPHER_QUERY_ROW_BYTES")
    query_text_length: int = Field(default=4_000, gt=0, validation_alias="SCENECYPHER_QUERY_TEXT_LENGTH")
    query_nesting: int = Field(default=40, gt=0, le=80, validation_alias="SCENECYPHER_QUERY_NESTING")
    query_planning_s: Seconds = Field(default=20.0, validation_alias="SCENECYPHER_QUERY_PLANNING_S")
    query_steps: float = Field(default=30_000_000, gt=0, validation_alias="SCENECYPHER_QUERY_STEPS")
    query_cross_rows: float = Field(default=100_000, gt=0, validation_alias="SCENECYPHER_QUERY_CROSS_ROWS")
    query_lost_s: Seconds = Field(default=20.0, validation_alias="SCENECYPHER_QUERY_LOST_S")
    query_slots: int | None = Field(default=None, gt=0, validation_alias="SCENECYPHER_QUERY_SLOTS")
    query_cheap_steps: float = Field(default=1_000_000, ge=0, validation_alias="SCENECYPHER_QUERY_CHEAP_STEPS")
    commit_timeout_s: Seconds = Field(default=30.0, validation_alias="SCENECYPHER_COMMIT_TIMEOUT_S")
    retry_s: float = Field(default=15.0, ge=0, le=1_000_000, validation_alias="SCENECYPHER_RETRY_S")

    def __init__(self, **given: object) -> None:
        values: dict[str, Any] = given
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InputError(_message(error)) from None
        except UnicodeDecodeError as error:
            raise InputError(".env is not UTF-8: save it as such, or delete it") from error

    @property
    def live_model(self) -> bool:
        """Return True if a model service is configured: an API key, or the URL of another server."""
        return self.openai_api_key is not None or self.openai_base_url is not None


def _message(error: ValidationError) -> str:
    """Return the invalid settings with their causes. Any text is a valid secret, so none is printed."""
    found = error.errors(include_url=False, include_context=False)
    problems = [f"{it['loc'][0]} is {str(it['input'])[:60]!r}: {it['msg'][0].lower()}{it['msg'][1:]}" for it in found]
    return f"{'; '.join(problems)}; correct it in the environment or in .env"
