"""Writes packages.lock: each package of requirements.txt and constraints.txt with the hashes of its files. `make lock`.

Set-up installs nothing else. A version that was published less than seven days ago is left out by the registry's own
dates, and then nothing is locked, unless `[tool.golem.young-packages]` in pyproject.toml names it with a reason: a
stolen account is mostly noticed within days.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from packaging.markers import Marker, default_environment

from golem_project.embedded.bootstrap import CONSTRAINTS, LOCK, REQUIREMENTS
from golem_project.embedded.paths import CHECKOUT

OLD_ENOUGH: Final = timedelta(days=7)
_PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
_MOST_SECONDS: Final = 600
_HEADER: Final = """\
# Written by `make lock`: what set-up installs, each package with the hashes of its files. Not to be edited.
# inputs: {inputs}
# locked at: {now}
# published before: {before}
"""


def main() -> int:
    """Lock, or say why not."""
    now = datetime.now(UTC).replace(microsecond=0)
    before = now - OLD_ENOUGH
    asked = [str(REQUIREMENTS), "--constraints", str(CONSTRAINTS), "--exclude-newer", before.isoformat()]
    for name in read_young():
        asked += ["--exclude-newer-package", f"{name.partition('==')[0]}={now.isoformat()}"]
    blocks = compile_lock(asked)
    if not blocks:
        sys.stderr.write(
            "lock: nothing was locked, see above. A version published less than 7 days ago is not seen: wait, or "
            "name it with its reason in [tool.golem.young-packages] of pyproject.toml\n"
        )
        return 1
    header = _HEADER.format(inputs=digest_inputs(), now=now.isoformat(), before=before.isoformat())
    LOCK.write_text(header + "".join(blocks), encoding="utf-8")
    sys.stderr.write(f"lock: {len(blocks)} packages in {LOCK.name}\n")
    return 0


def compile_lock(asked: list[str]) -> list[str]:
    """One block for each package that the requirements ask for on the machines this runs on; none where that failed."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "packages.lock"
        command = [sys.executable, "-m", "uv", "pip", "compile", *asked, "--output-file", str(made)]
        command += ["--generate-hashes", "--universal", "--python-version", _PYTHONS[0]]
        command += ["--no-header", "--no-annotate", "--system-certs", "--quiet"]
        if subprocess.run(command, cwd=CHECKOUT, check=False, timeout=_MOST_SECONDS).returncode != 0:  # noqa: S603
            return []
        return [block for block in split_blocks(made.read_text(encoding="utf-8")) if _is_for_here(block)]


def digest_inputs() -> str:
    """SHA-256 over what the lock is made from."""
    digest = hashlib.sha256()
    for part in (
        REQUIREMENTS.read_bytes(),
        CONSTRAINTS.read_bytes(),
        *(each.encode() for each in sorted(read_young())),
    ):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def read_young() -> dict[str, str]:
    """Versions that may be younger than seven days, as `name==version`, each with its reason."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    young: dict[str, str] = settings["tool"]["golem"]["young-packages"]
    return young


def split_blocks(text: str) -> list[str]:
    """One block for each package: its line, then a line for each hash."""
    return re.findall(r"^[a-z0-9][^#\n]*\n(?: .*\n?)*", text, re.MULTILINE)


def _is_for_here(block: str) -> bool:
    """Whether any Python that this runs on would install it: on Linux, x86-64, CPython."""
    condition = re.search(r" ; (.*?) \\", block)
    if condition is None:
        return True
    marker = Marker(condition[1])
    here = {name: str(value) for name, value in default_environment().items()}
    here |= {"sys_platform": "linux", "os_name": "posix", "platform_machine": "x86_64"}
    return any(
        marker.evaluate({**here, "python_version": python, "python_full_version": f"{python}.0"}) for python in _PYTHONS
    )


if __name__ == "__main__":
    sys.exit(main())
