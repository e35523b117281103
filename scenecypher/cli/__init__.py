"""The command line, one small file a command group."""

from __future__ import annotations

INTERRUPTED = 130


def main() -> None:
    """Run the command that was typed; errors of ours end in one line and their exit code."""
    import sys

    try:
        _prepare_streams()
        from scenecypher.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are still read
        code = INTERRUPTED
    sys.exit(code)


def _prepare_streams() -> None:
    """Give streams that the caller closed an empty file; write what an encoding does not have in escapes."""
    import os
    import sys
    from io import TextIOWrapper

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
