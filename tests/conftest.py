"""Shared fixtures: a clean environment, one throw-away server, a store on it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import ssl
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.settings import Settings
from tests.sampling import FULL
from tests.server import HOME, JARS, discard, environment_of, throwaway_server

LEAKING = ("NEO4J_", "OPENAI_", "SCENECYPHER_")
OUR_OWN = "SCENECYPHER_TEST_"
TERMINAL = ("COLUMNS", "LINES", "NO_COLOR")
"""The first two are in the environment of pytest's workers, since pytest imports readline, which sets them."""
LONG_FILES = (
    *("test_docs.py", "test_local.py", "test_server_gone.py"),
    *("test_installed_packages.py", "test_packaging.py", "test_site.py", "test_backup.py"),
)
"""Files that wait for processes and time limits: run first, so that no worker runs one alone at the end.

One backs up all scenes of its server, which are few at first.
"""
MANY = 3_000
"""A run of as many tests has a server that compiles in two stages: best for all tests, worse for a few files."""

# A shared machine is slow at times: time limits are pytest-timeout's business, not hypothesis's.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.register_profile("full", settings.get_profile("here"), max_examples=1_000)


def pytest_configure() -> None:
    """Hide the user's own database, model service and settings from every test and its subprocesses."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A shell's background job ignores SIGINT, and so would the commands that tests interrupt.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in list(os.environ):
        if name in TERMINAL or (name.startswith(LEAKING) and not name.startswith(OUR_OWN)):
            del os.environ[name]
    os.environ["SCENECYPHER_HOME"] = str(HOME)
    # Servers that tests start by themselves live for seconds: they compile in one stage.
    os.environ["SCENECYPHER_SHORT_RUN"] = "true"
    if JARS:
        os.environ["SCENECYPHER_SERVER_JARS"] = str(JARS)
    Settings.env_file = None
    settings.load_profile("full" if FULL else "ci" if os.environ.get("CI") else "here")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Set TCP_NODELAY on the connection of --reruns: it sends two short messages a test, the second after 40 ms."""
    counts = getattr(session.config, "failures_db", None)
    connection: socket.socket | None = getattr(counts, "sock", None)
    if connection is not None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage while tests are collected, never among them later, and seldom elsewhere."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        gc.enable()


def pytest_unconfigure() -> None:
    """Stop the server of this run's home, if a test started one."""
    if HOME.exists():
        discard(HOME)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show why tests that were run once more failed at their first try."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that use the server for `-m "not database"`; deselect slow tests except in the full run."""
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
    for item in items:
        if {"address", "database", "store"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.database)
    if FULL:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Read the machine's certificates once, not for every client of a model service."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ssl.create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """Yield the address of this run's throw-away server."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            if len(request.session.items) >= MANY:
                patch.setenv("SCENECYPHER_SHORT_RUN", "false")
            address = stack.enter_context(throwaway_server())
        yield address


@pytest.fixture(scope="session")
def database(address: Address) -> Iterator[Database]:
    """Yield an open connection to the throw-away server; each test has its own scenes there."""
    database = Database(address)
    database.verify()
    yield database
    database.close()


@pytest.fixture(scope="session")
def store(database: Database) -> SceneStore:
    """Return a store on the throw-away server, with constraints and indexes."""
    store = SceneStore(database)
    store.prepare()
    return store


@pytest.fixture
def user_env(address: Address) -> dict[str, str]:
    """Return the environment of a user whose `NEO4J_URI` is the throw-away server, for subprocesses."""
    return environment_of(address)


@pytest.fixture(scope="session")
def forks() -> Iterator[Path]:
    """Yield the folder of commands that start at once: `scenecypher`, and `python` for `-c` and `-m`."""
    from tests.forking import forked_commands

    with forked_commands() as folder:
        yield folder
