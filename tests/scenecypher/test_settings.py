"""Settings come from their own variables only."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.db.gate import Limits
from scenecypher.errors import InputError
from scenecypher.settings import Settings, variable_of

LIMITS = (
    *("TIMEOUT_S", "PLANNING_S", "ROWS", "ROW_BYTES", "BYTES"),
    *("STEPS", "TEXT_LENGTH", "NESTING"),
    *("CHEAP_STEPS", "LOST_S"),
)


def test_other_programs_variables_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Settings()
    for name in ("HOME", "MODEL", "HEAP_MB", "QUERY_ROWS"):
        monkeypatch.setenv(name, "/elsewhere" if name == "HOME" else "777")
    assert Settings() == before


def test_a_misspelt_variable_of_ours_is_refused_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was meant for us is used or refused: a limit that somebody misspelt was not set, without a word."""
    monkeypatch.setenv("SCENECYPHER_QUERY_TIMEOUT", "1")
    with pytest.raises(InputError, match="SCENECYPHER_QUERY_TIMEOUT, did you mean SCENECYPHER_QUERY_TIMEOUT_S"):
        Settings()
    monkeypatch.setenv("SCENECYPHER_QUERY_TIMEOUT", "")
    for others in ("NEO4J_HOME", "SCENECYPHER_TEST_PASSWORD", "SCENECYPHER_FLEET_HOMES", "SCENECYPHER_COMPLETE"):
        monkeypatch.setenv(others, "elsewhere")
    Settings()
    file = tmp_path / ".env"
    file.write_text("SCENECYPHER_HEAP=1000\n", encoding="utf-8")
    monkeypatch.setattr(Settings, "env_file", file)
    with pytest.raises(InputError, match="did you mean SCENECYPHER_HEAP_MB"):
        Settings()


def test_each_limit_of_a_query_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Limits.of(Settings()) == replace(Limits(), seconds=10.0)
    for number, name in enumerate(LIMITS, 1):
        monkeypatch.setenv(f"SCENECYPHER_QUERY_{name}", str(number))
    assert sorted(asdict(Limits.of(Settings())).values()) == list(range(1, len(LIMITS) + 1))
    assert len(LIMITS) == len(fields(Limits))


def test_brackets_nest_no_deeper_than_the_reader_can_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENECYPHER_QUERY_NESTING", "81")
    with pytest.raises(InputError, match="80"):
        Settings()


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", "1e300"])
@pytest.mark.parametrize("name", ["SCENECYPHER_RETRY_S", "SCENECYPHER_COMMIT_TIMEOUT_S", "SCENECYPHER_QUERY_TIMEOUT_S"])
def test_a_time_that_can_not_be_is_the_users_to_mend(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name} is '{value}': input should be .*; correct it in the environment"):
        Settings()


def test_a_secret_that_is_not_accepted_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENECYPHER_MCP_TOKEN", "hunter2")
    with pytest.raises(InputError, match=r"SCENECYPHER_MCP_TOKEN is not accepted: .*at least 16") as refused:
        Settings()
    assert "hunter2" not in str(refused.value)


def test_a_file_of_settings_that_is_no_text_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"SCENECYPHER_MODEL=\xff\n")
    monkeypatch.setattr(Settings, "env_file", file)
    with pytest.raises(InputError, match="not UTF-8"):
        Settings()


def test_an_unknown_name_is_the_users_to_mend() -> None:
    with pytest.raises(InputError, match=r"no setting 'query_timeout' \(did you mean 'query_timeout_s'"):
        Settings(query_timeout=3)


def test_what_is_given_comes_before_the_environment_and_that_before_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "SCENECYPHER_MODEL=of-file\nSCENECYPHER_RETRY_S=3\nNEO4J_USERNAME=ann\nscenecypher_heap_mb=300\nOTHER=1\n"
    )
    monkeypatch.setattr(Settings, "env_file", file)
    monkeypatch.setenv("SCENECYPHER_MODEL", "of-environment")
    monkeypatch.setenv("SCENECYPHER_RETRY_S", "4")
    monkeypatch.setenv("NEO4J_USERNAME", "")
    settings = Settings(retry_s=5)
    assert (settings.model, settings.retry_s, settings.heap_mb) == ("of-environment", 5, 300)
    assert settings.neo4j_username == "ann", "an empty variable sets nothing"
    with pytest.raises(InputError, match=r"^retry_s is '-1': input should be .*; correct it$"):
        Settings(retry_s=-1)


def test_every_time_limit_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [name for name in Settings.model_fields if name.endswith("_timeout_s")]
    assert limits == [f"{it}_timeout_s" for it in ("model", "query", "engine", "connect", "read", "commit")]
    for number, name in enumerate(limits, 1):
        monkeypatch.setenv(variable_of(name), str(number))
    settings = Settings(openai_api_key="k", model_retries=0)
    assert [getattr(settings, name) for name in limits] == [1, 2, 3, 4, 5, 6]
    with OpenAIModel.from_settings(settings) as model:
        assert (model._endpoint.timeout_s, model._endpoint.tries) == (1, 1)


def test_each_setting_has_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCENECYPHER_HOME", str(tmp_path))
    monkeypatch.setenv("SCENECYPHER_HEAP_MB", "777")
    monkeypatch.setenv("NEO4J_URI", "bolt://elsewhere:7687")
    monkeypatch.setenv("SCENECYPHER_RETRY_S", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    settings = Settings()
    assert settings.retry_s == 0
    assert (settings.home, settings.heap_mb, settings.neo4j_uri) == (tmp_path, 777, "bolt://elsewhere:7687")
    assert not settings.live_model


def test_each_setting_has_its_name_and_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not [name for name, field in Settings.model_fields.items() if field.alias or field.validation_alias]
    assert Settings(server_jars=tmp_path).server_jars == tmp_path
    monkeypatch.setenv("SCENECYPHER_SERVER_JARS", str(tmp_path))
    assert Settings().server_jars == tmp_path
