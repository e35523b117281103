"""The command line; each module has one group of commands."""

from __future__ import annotations

INTERRUPTED = 130


def main() -> None:
    """Run the command line of the process. Errors of SceneCypher end in one line and their exit code."""
    import sys
    from signal import SIG_IGN, SIGINT, signal

    try:
        _prepare_streams()
        from scenecypher.cli.app import run_command_line

        code = run_command_line(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are still being imported
        code = INTERRUPTED
    if code == INTERRUPTED:
        signal(SIGINT, SIG_IGN)  # a second Ctrl-C has nothing more to stop
    sys.exit(code)


def _prepare_streams() -> None:
    """Replace closed streams by an empty file; print characters that the encoding lacks as escapes."""
    import os
    import sys
    from io import TextIOWrapper

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
