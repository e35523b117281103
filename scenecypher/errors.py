"""The tree of errors: three branches, by who acts next.

    SceneCypherError
    ├── InputError      the user fixes a file, a name or a setting      exit code 2
    ├── RejectedError   the model (or person) who wrote it tries again  exit code 1
    ├── RunStopped      a person stopped a long run: how to go on       exit code 130
    └── ServiceError    the operator: database or model service         exit code 2

The branch alone decides the exit code. What names the place to work in (a file, a scene, a setting) is input; what is
proposed within a scene (a query, an action, a node) is refused. Every message ends with what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scenecypher.words import nearest_names

PROBLEMS_SHOWN: Final = 20
"""Lines of a file's problems in one message."""


class SceneCypherError(Exception):
    """Root of all errors that SceneCypher raises on purpose."""

    exit_code = 2


class InputError(SceneCypherError):
    """An unusable file, name or setting of the user's; the message names file, place and cause."""


class DocumentError(InputError):
    """A file that can't become a scene graph.

    `file` is as the user typed it, `place` a JSON path such as ``$.nodes[3].id``. `more` lists further problems of the
    file, each a place and a cause. The message has a line for each of the first `PROBLEMS_SHOWN` problems.
    """

    def __init__(self, file: str, place: str, cause: str, *, more: Sequence[tuple[str, str]] = ()) -> None:
        self.file, self.place, self.cause = file, place, cause
        self.problems = ((place, cause), *more)
        lines = [f"{file}: {where}: {why}" for where, why in self.problems[:PROBLEMS_SHOWN]]
        if len(self.problems) > PROBLEMS_SHOWN:
            lines.append(f"{file}: and {len(self.problems) - PROBLEMS_SHOWN:,} more problems; fix these first")
        super().__init__("\n".join(lines))


class SceneNotFound(InputError):
    """No published scene has this name."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        super().__init__(f"no scene named {name!r}{did_you_mean(name, known)}; `scenecypher scenes list` shows all")
        self.name = name


class NameTaken(InputError):
    """A name that another writer has given away, or taken, while a scene was written; nothing was replaced."""

    def __init__(self, name: str) -> None:
        msg = f"somebody else has made, replaced or deleted the scene {name!r} meanwhile; nothing was replaced"
        super().__init__(f"{msg}: look at it, then do this again, or choose another name")
        self.name = name


class RejectedError(SceneCypherError):
    """A proposal that does not fit the scene; the text is written for the model that proposed it."""

    exit_code = 1

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons of the rejection, one text each."""
        return (str(self),)


class QueryRefused(RejectedError):
    """A query that the gate refuses: `code` for programs, the offending `piece` of its text, a `hint` to repair it."""

    def __init__(self, code: str, message: str, *, piece: str = "", hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.code, self.message, self.piece, self.hint = code, message, piece, hint


class ActionRefused(RejectedError):
    """An action whose precondition does not hold; nothing was committed."""

    def __init__(self, action: str, reasons: Sequence[str]) -> None:
        super().__init__(f"{action}: {'; '.join(reasons)}")
        self.action, self._reasons = action, tuple(reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the unmet requirements."""
        return self._reasons


class RuleBroken(ActionRefused):
    """An action that would break a rule of the house; nothing was committed."""


class UnknownReference(RejectedError):
    """A name, class or id that resolves to no node or to several.

    If it resolves to none, `word` is what was written and `known` what could have been.
    """

    def __init__(self, message: str, word: str = "", known: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.word, self.known = word, tuple(known)


class ReplyRejected(RejectedError):
    """A model's reply in another form than asked for; holds the reply and the tokens of all attempts."""

    def __init__(self, message: str, *, reply: str = "", prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
        super().__init__(message)
        self.reply, self.prompt_tokens, self.completion_tokens = reply, prompt_tokens, completion_tokens


class ConflictError(RejectedError):
    """A scene that differs from a Delta's *before*; nothing was committed."""


class NothingToUndo(RejectedError):
    """A scene has no action in effect, or not of the given version; nothing was committed."""


class NothingToRedo(RejectedError):
    """The latest change of a scene is no undo; nothing was committed."""


class RunStopped(SceneCypherError):
    """A run that a person stopped; the message says how to go on with it."""

    exit_code = 130


class ServiceError(SceneCypherError):
    """A failure of the database or the model service; `retryable` if the same call may succeed later."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class DatabaseUnavailable(ServiceError):
    """A server that can't be reached, refuses the password, is too old, or failed."""


class QueryTimeout(ServiceError):
    """A transaction that the server or the watchdog ended at its time limit."""


class MemoryExceeded(ServiceError):
    """A transaction that needs more memory than the server grants one; a retry would fail too."""


class QueryFailed(ServiceError):
    """A statement that the server refused: `code` is the server's, `summary` the first line of its message."""

    def __init__(self, code: str, summary: str, *, advice: str) -> None:
        super().__init__(f"{summary} ({code}); {advice}")
        self.code, self.summary = code, summary


class ConstraintViolated(QueryFailed):
    """A write with a key that exists already; nothing was committed."""


class CommitUnknown(ServiceError):
    """A connection lost before the answer to COMMIT: the work is done or not, and may be requested again."""


class SceneReplaced(ServiceError):
    """A scene whose generation was retired while in use; load it again by name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"scene {name!r} was replaced or deleted meanwhile; open it again by name", retryable=True)


class GateFault(ServiceError):
    """An error in the gate that is no refusal of its own; the queries after it are not affected."""

    def __init__(self, error: Exception) -> None:
        cause = type(error).__name__
        super().__init__(
            f"the query met a fault of SceneCypher's own ({cause}): write it in another way, and report it"
        )


class ModelUnavailable(ServiceError):
    """A failed model service, or a cassette that lacks the requested reply."""


def did_you_mean(name: str, known: Sequence[str], *, limit: int = 3) -> str:
    """Return ``(did you mean 'a' or 'b'?)`` for the `limit` nearest of `known`; empty if none is."""
    near = nearest_names(name, known, limit=limit)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def check_options(given: Iterable[str], known: Mapping[str, object]) -> None:
    """Refuse options that there are not: a misspelt one would be left out of account. Raises InputError."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, tuple(known))
            raise InputError(f"there is no option {name!r}{hint}; use those of {', '.join(known)}")
