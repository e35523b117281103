"""Writer of lists of jars: `python -m scenecypher.db.local.pins VERSION > FILE`, with jgo of the extra `dev`.

`db/local/jars.txt` lists the version that users get, `tests/data/neo4j-5.26.txt` the oldest that the tests run on.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenecypher.db.local.jars import MAVEN_CENTRAL

if TYPE_CHECKING:
    from jgo.maven import Artifact

BROWSER: Final = "5.24.0"
USED_SCOPES: Final = ("compile", "runtime")


def resolve_artifacts(version: str, folder: Path) -> list[Artifact]:
    """Resolve all dependencies of the server by Maven, in a few minutes of small requests."""
    from jgo.maven import MavenContext

    maven = MavenContext(repo_cache=folder, remote_repos={"central": MAVEN_CENTRAL}, timeout=30)
    coordinates = (
        f"org.neo4j.app:neo4j-server:jar:{version}",
        f"org.neo4j:neo4j:jar:{version}",
        f"org.neo4j.client:neo4j-browser:jar:{BROWSER}",
    )
    roots = [maven.create_dependency(f"{place}:compile") for place in coordinates]
    inputs, transitive = maven.resolver.resolve(roots)
    return [found.artifact for found in (*inputs, *(other for other in transitive if other.scope in USED_SCOPES))]


def row(artifact: Artifact, content: bytes) -> str:
    """Return ``group:artifact:version[:classifier] sha256``."""
    named = (artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier)
    return f"{':'.join(part for part in named if part)} {hashlib.sha256(content).hexdigest()}"


def main(version: str) -> None:
    """Print the table of a version."""
    rows, size = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for artifact in resolve_artifacts(version, Path(folder)):
            content = Path(artifact.resolve()).read_bytes()
            rows.append(row(artifact, content))
            size += len(content)
    first = f"# Neo4j {version}, {round(size / 1e6)} MB, Browser {BROWSER}: made by db/local/pins.py"
    sys.stdout.write("\n".join((first, *sorted(rows), "")))


if __name__ == "__main__":
    main(sys.argv[1])
