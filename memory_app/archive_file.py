"""One signed file of a golem's memory: a header line, a line a row, and a line with the hash of all and its signature.

Ed25519 with this server's audit key, over the SHA-256 of everything before the last line. A file is read twice: the
signature is checked to the end before a single row is looked at, so a changed, cut or re-ordered file gives nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from Crypto.Signature import eddsa
from django.conf import settings

from memory_app.errors import GrimoireFileRefused
from tools_app.core import audit_key
from tools_app.core.bounded_parsing import read_exact_json

FORMAT: Final = "golem-grimoire"
VERSION: Final = 1
MOST_LINE_BYTES: Final = 256 * 1024
SUFFIX: Final = ".grimoire.jsonl"
_CONTEXT: Final = b"golem grimoire archive v1\n"


@dataclass(frozen=True, slots=True)
class Archive:
    """A file whose signature holds: its header, how many rows it has, and who signed it (hex)."""

    path: Path
    header: dict[str, object]
    rows: int
    sha256: str
    public_key: str


def find_archive(*, folder: Path, name: str) -> Path:
    """The archive `name` in `folder`; a path outside of it is refused. Raises GrimoireFileRefused."""
    path = folder / name
    plain = Path(name)
    if plain.is_absolute():
        path = plain
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise GrimoireFileRefused(f"there is no archive {plain.name!r} in this server's folder") from None
    if not resolved.is_relative_to(folder.resolve()) or not resolved.is_file() or not resolved.name.endswith(SUFFIX):
        raise GrimoireFileRefused(f"there is no archive {plain.name!r} in this server's folder")
    return resolved


def write_archive(*, folder: Path, stem: str, header: dict[str, object], rows: Iterable[dict[str, object]]) -> Archive:
    """Write, sign and put in place an archive, whole or not at all. `header` and `rows` are JSON-ready."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = audit_key.load()
    public_key = audit_key.name(key)
    full = {"format": FORMAT, "version": VERSION, **header}
    digest, count = hashlib.sha256(_CONTEXT), 0
    descriptor, made = tempfile.mkstemp(prefix=".making-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            digest.update(_write(handle, full))
            for row in rows:
                digest.update(_write(handle, row))
                count += 1
            signature = eddsa.new(key, "rfc8032").sign(digest.digest()).hex()
            _write(
                handle,
                {"rows": count, "sha256": digest.hexdigest(), "public_key": public_key, "signature": signature},
            )
            handle.flush()
            os.fsync(handle.fileno())
        target = folder / f"{stem}{SUFFIX}"
        Path(made).rename(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return Archive(target, full, count, digest.hexdigest(), public_key)


def check_archive(path: Path) -> Archive:
    """The archive at `path` when every byte of it is what a trusted key signed. Raises GrimoireFileRefused."""
    digest, count = hashlib.sha256(_CONTEXT), -1
    header: dict[str, object] = {}
    held = b""
    try:
        with path.open("rb") as handle:
            while line := handle.readline(MOST_LINE_BYTES + 1):
                if len(line) > MOST_LINE_BYTES or not line.endswith(b"\n"):
                    raise GrimoireFileRefused("the archive is cut off, or one of its lines is too long")
                if held:
                    digest.update(held)
                    header = header or _read(held)
                    count += 1
                if count > settings.GOLEM_MEMORY_MOST_ARCHIVE_ROWS:
                    raise GrimoireFileRefused(f"an archive has at most {settings.GOLEM_MEMORY_MOST_ARCHIVE_ROWS} rows")
                held = line
    except OSError as error:
        raise GrimoireFileRefused("the archive cannot be read") from error
    seal = _read(held) if held else {}
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise GrimoireFileRefused("this is no archive of memory, or one of another version")
    if seal.get("rows") != count or seal.get("sha256") != digest.hexdigest():
        raise GrimoireFileRefused("the archive was changed after it was signed")
    _check_signature(seal, digest.digest())
    return Archive(path, header, count, digest.hexdigest(), str(seal["public_key"]))


def read_rows(archive: Archive) -> Iterator[dict[str, object]]:
    """The rows of a checked archive, one at a time; hashed again, so a file changed meanwhile gives an error."""
    digest = hashlib.sha256(_CONTEXT)
    with archive.path.open("rb") as handle:
        digest.update(handle.readline(MOST_LINE_BYTES + 1))
        for _ in range(archive.rows):
            line = handle.readline(MOST_LINE_BYTES + 1)
            digest.update(line)
            yield _read(line)
    if digest.hexdigest() != archive.sha256:
        raise GrimoireFileRefused("the archive changed while it was read")


def _write(handle: Any, line: dict[str, object]) -> bytes:  # Any: a line of an archive, checked member by member
    written = json.dumps(line, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"
    handle.write(written)
    return written


def _read(line: bytes) -> dict[str, object]:
    try:
        value = read_exact_json(line, most_bytes=MOST_LINE_BYTES)
    except ValueError:
        raise GrimoireFileRefused("a line of the archive is no JSON") from None
    if not isinstance(value, dict):
        raise GrimoireFileRefused("a line of the archive is no object")
    return value


def _check_signature(seal: dict[str, object], digest: bytes) -> None:
    own = audit_key.name(audit_key.load())
    named = str(seal.get("public_key", ""))
    if named not in {own, *settings.GOLEM_GRIMOIRE_TRUSTED_KEYS}:
        raise GrimoireFileRefused(
            "the archive was signed by a key this server does not trust; an owner adds it to"
            " GOLEM_GRIMOIRE_TRUSTED_KEYS when it is known",
            public_key=named[:64],
        )
    try:
        key = eddsa.import_public_key(bytes.fromhex(named))
        eddsa.new(key, "rfc8032").verify(digest, bytes.fromhex(str(seal.get("signature", ""))))
    except ValueError:
        raise GrimoireFileRefused("the signature of the archive does not hold") from None
