"""Server notifications as records of the logger `scenecypher.db`, silent unless the program listens."""

from __future__ import annotations

import logging
from typing import Final

DRIVERS: Final = "neo4j.notifications"
OURS: Final = "scenecypher.db"


class _Forward(logging.Handler):
    """Handler that passes the driver's records to our logger."""

    def emit(self, record: logging.LogRecord) -> None:
        ours = logging.getLogger(OURS)
        if ours.isEnabledFor(record.levelno):
            ours.handle(logging.makeLogRecord({**record.__dict__, "name": OURS}))


def forward_notices() -> None:
    """Send the driver's notifications to `scenecypher.db`; keep its retry warnings off the terminal. Idempotent.

    A null handler, as usual for libraries, keeps records off the terminal of programs without logging.
    """
    source = logging.getLogger(DRIVERS)
    if not any(isinstance(handler, _Forward) for handler in source.handlers):
        source.addHandler(_Forward())
        source.propagate = False
        for name in ("neo4j", "scenecypher"):
            logging.getLogger(name).addHandler(logging.NullHandler())
