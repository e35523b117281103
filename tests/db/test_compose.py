"""The compose file and the tests' containers have the limits and the version of the local server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from scenecypher.db.browser.style import connect_commands
from scenecypher.db.local.config import ServerState, conf_text, transaction_mb
from scenecypher.db.local.jars import Release
from scenecypher.settings import Settings, variable_of
from tests import containers

ROOT: Final = Path(__file__).resolve().parent.parent.parent
COMPOSE: Final = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
EXAMPLE: Final = (ROOT / ".env.example").read_text(encoding="utf-8")
ENTRY: Final = re.compile(r'^ +(NEO4J_\w+): "(.*)"$', re.MULTILINE)
SHARED: Final = (
    "server.memory.pagecache.size",
    "db.memory.transaction.max",
    "dbms.memory.transaction.total.max",
    "db.transaction.monitor.check.interval",
    "dbms.usage_report.enabled",
    "server.fleet_discovery.enabled",
    "client.allow_telemetry",
    "dbms.security.allow_csv_import_from_file_urls",
    "internal.server.bolt.thread_pool_shutdown_wait_time",
)


def settings_of(entries: dict[str, str]) -> dict[str, str]:
    """Return ``NEO4J_a_b__c`` as the setting ``a.b_c``."""
    return {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): value
        for name, value in entries.items()
    }


def local_settings() -> dict[str, str]:
    text = conf_text(Settings(), ServerState(pid=None, bolt=7687, http=7474))
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


def test_compose_has_the_limits_of_the_local_server() -> None:
    composed, ours = settings_of(dict(ENTRY.findall(COMPOSE))), local_settings()
    assert {name: composed[name] for name in SHARED} == {name: ours[name] for name in SHARED}
    assert composed["server.memory.heap.max_size"] == f"{Settings().heap_mb}m"
    assert composed["server.jvm.additional"] == "-XX:+ExitOnOutOfMemoryError"


def test_the_tests_containers_have_them_too() -> None:
    tested, ours = settings_of(containers.SETTINGS), local_settings()
    shared = set(tested) & set(SHARED)
    assert {name: tested[name] for name in shared} == {name: ours[name] for name in shared}
    assert tested["db.memory.transaction.max"] == f"{transaction_mb(Settings().heap_mb)}m"


def test_one_version_everywhere() -> None:
    image = f"neo4j:{Release.of().version}-community"
    assert f"image: {image}\n" in COMPOSE
    assert image == containers.IMAGE


def test_compose_sets_browser_up() -> None:
    assert f"NEO4J_browser_post__connect__cmd: '{connect_commands()}'\n" in COMPOSE
    assert local_settings()["browser.post_connect_cmd"] == connect_commands()


def test_compose_publishes_on_loopback_only() -> None:
    published = re.findall(r'^ +- "(.*:\d+)"$', COMPOSE, re.MULTILINE)
    assert len(published) == 2
    assert all(port.startswith("127.0.0.1:") for port in published)


@pytest.mark.parametrize("name", ["NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_the_example_names_settings_that_exist(name: str) -> None:
    assert re.search(rf"^#? ?{name}=", EXAMPLE, re.MULTILINE)
    assert name in map(variable_of, Settings.model_fields)


def test_the_example_holds_no_password() -> None:
    assert re.search(r"^NEO4J_PASSWORD=$", EXAMPLE, re.MULTILINE)
