"""Uniswap's SDKs as one file that Node runs: installed from their committed lock, then put together with `sdk/*.mjs`.

Nothing of a package is executed but the bundler, which is one of them. The file lies under `var/cache`, named by what
it is made of, so the second time costs a few reads. `make setup` makes it; where it is missing nothing starts, and who
asks for a second opinion is told that there is none.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Say, say_to_stderr
from golem_project.embedded.npm_tree import install_tree, newest_node

FOLDER: Final = Path(__file__).parent / "sdk"
BUNDLE_DIR: Final = CACHE_DIR.parent / "sdk"
SOCKET_VARIABLE: Final = "GOLEM_SDK_SOCKET"
READY_LINE: Final = "uniswap sdk ready"
HEAP_MEBIBYTES: Final = 256
"""Of the thread that reads and writes; those that work have a bound of their own."""
_BUNDLE_SECONDS: Final = 120


def find_bundle() -> Path | None:
    """The file, if set-up made it from exactly these sources and this lock."""
    path = _bundle_path()
    return path if path.exists() else None


def make_bundle(*, say: Say = say_to_stderr) -> Path:
    """The file, made where it is missing. Raises EmbeddedError without a network the first time."""
    path = _bundle_path()
    if path.exists():
        return path
    modules = install_tree(FOLDER, say=say)
    BUNDLE_DIR.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        result = subprocess.run(  # noqa: S603 (a bundler that the lock pins)
            [
                *(str(modules / "@esbuild" / "linux-x64" / "bin" / "esbuild"), str(FOLDER / "sidecar.mjs")),
                *("--bundle", "--platform=node", "--format=cjs", "--target=node20", "--log-level=error"),
                f"--outfile={draft}",
            ],
            # The sources lie apart from what they import.
            env={"PATH": os.defpath, "NODE_PATH": str(modules)},
            capture_output=True,
            text=True,
            timeout=_BUNDLE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmbeddedError(f"Uniswap's SDKs could not be bundled ({error}). Fix: run make setup again.") from None
    if result.returncode != 0:
        raise EmbeddedError(f"Uniswap's SDKs could not be bundled ({result.stderr[:200]}). Fix: run make setup again.")
    draft.replace(path)
    return path


def sdk_command(bundle: Path, socket: Path) -> tuple[str, ...]:
    """How it is started: by a program that leaves it nothing of the environment it was started in."""
    return (sys.executable, "-m", __name__, newest_node(), str(bundle), str(socket))


def main() -> None:
    """Become Node, with an empty environment: secrets of the product are no business of a package."""
    node, bundle, socket = sys.argv[1:]
    os.umask(0o077)
    os.execve(node, [node, f"--max-old-space-size={HEAP_MEBIBYTES}", bundle, socket], {})  # noqa: S606


def _bundle_path() -> Path:
    names = ("package.json", "package-lock.json", "sidecar.mjs", "sums.mjs")
    digest = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in names)).hexdigest()[:16]
    return BUNDLE_DIR / f"uniswap-{digest}.cjs"


if __name__ == "__main__":
    main()
