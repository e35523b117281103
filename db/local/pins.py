"""Writer of `jars.txt`: `python -m scenecypher.db.local.pins > db/local/jars.txt` after a change of version."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenecypher.db.local.jars import VERSION

if TYPE_CHECKING:
    from jgo.maven import Artifact

BROWSER: Final = "5.24.0"
COORDINATES: Final = (
    ("org.neo4j.app", "neo4j-server", VERSION),
    ("org.neo4j", "neo4j", VERSION),
    ("org.neo4j.client", "neo4j-browser", BROWSER),
)
USED_SCOPES: Final = ("compile", "runtime")


def resolve_artifacts(folder: Path) -> list[Artifact]:
    """Resolve all dependencies of the server by Maven, in about a minute of small requests."""
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.maven import MavenContext

    maven = MavenContext(repo_cache=folder, remote_repos={"central": MAVEN_CENTRAL_URL}, timeout=30)
    roots = [
        maven.create_dependency(f"{group}:{artifact}:jar:{version}:compile") for group, artifact, version in COORDINATES
    ]
    inputs, transitive = maven.resolver.resolve(roots)
    return [found.artifact for found in (*inputs, *(other for other in transitive if other.scope in USED_SCOPES))]


def row(artifact: Artifact) -> str:
    """Return ``group:artifact:version[:classifier] sha256``."""
    named = (artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier)
    content = Path(artifact.resolve()).read_bytes()
    return f"{':'.join(part for part in named if part)} {hashlib.sha256(content).hexdigest()}"


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = sorted(row(artifact) for artifact in resolve_artifacts(Path(folder)))
    sys.stdout.write("\n".join((f"# Neo4j {VERSION}, Browser {BROWSER}: made by db/local/pins.py", *rows, "")))


if __name__ == "__main__":
    main()
