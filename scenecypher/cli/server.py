"""Facts about the configured server, for the commands that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scenecypher.cli.context import errors
from scenecypher.cli.waits import LINE
from scenecypher.errors import ServiceError

if TYPE_CHECKING:
    from scenecypher.db.store.connection import Address
    from scenecypher.settings import Settings


def configured() -> Settings:
    """Return the settings of the environment."""
    from scenecypher.settings import Settings

    return Settings()


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error with the latest message; yield a function that sets it."""
    console = errors()
    with LINE.hidden(), console.status("looking at the server…") as spinner:

        def tell(line: str) -> None:
            spinner.update(line)
            if not console.is_terminal:
                console.print(line, markup=False)

        yield tell


def connected_facts(settings: Settings, *, tell: Callable[[str], None]) -> dict[str, Any]:
    """Connect to the configured server, starting a local one; return its facts. Raises DatabaseUnavailable."""
    from scenecypher.db.connect import connect

    with connect(settings, tell=tell):
        return named_facts(settings) if settings.neo4j_uri else local_facts(settings)


def local_facts(settings: Settings) -> dict[str, Any]:
    """Return the facts of the local server, whether it runs or not."""
    from scenecypher.db import local
    from scenecypher.db.store.connection import Address

    files = local.ServerHome.of(settings)
    facts: dict[str, Any] = {
        "server": "local",
        "running": False,
        "home": str(files.root),
        "log": str(files.log),
        "password_file": str(files.password_file),
    }
    server = local.status(settings)
    if server is None:
        return facts
    ours = {"uri": server.uri, "browser": server.browser, "username": server.username, "pid": server.pid}
    return facts | ours | probe(Address(server.uri, server.username, server.password))


def named_facts(settings: Settings) -> dict[str, Any]:
    """Return the facts of the server at NEO4J_URI."""
    from scenecypher.db.connect import address_of

    address = address_of(settings, tell=lambda _: None)
    facts = {"server": "NEO4J_URI", "uri": address.uri, "username": address.username, "database": address.database}
    return facts | probe(address)


def probe(address: Address) -> dict[str, Any]:
    """Return the version and edition of a server that answers and its copies for episodes, else the problem."""
    from scenecypher.db.store.connection import Database
    from scenecypher.db.store.lease import count_copies

    with Database(address) as database:
        try:
            info = database.verify()
            copies = count_copies(database)
        except ServiceError as error:
            return {"running": False, "problem": str(error)}
    return {"running": True, "version": info.version, "edition": info.edition, **copies}


def password_place(facts: dict[str, Any]) -> str:
    """Return where the password is, in words."""
    return f"in the file {facts['password_file']}" if "password_file" in facts else "that of NEO4J_PASSWORD"
