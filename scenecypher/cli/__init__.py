"""The command line, one small file a command group."""

from __future__ import annotations


def main() -> None:
    """Run the command that was typed; errors of ours end in one line and their exit code."""
    import sys

    from scenecypher.cli.app import run

    sys.exit(run(sys.argv[1:]))
