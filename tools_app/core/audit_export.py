"""A golem's audit chain as one file of JSON lines that can be verified alone, without the database.

The first line is a header with the head of the chain, then every entry in order, then the signed checkpoints.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from uuid import UUID

from tools_app.core.audit_archives import read_entries, tell_entry
from tools_app.core.audit_checkpoints import ChainReport, verify_chain
from tools_app.core.audit_log import BrokenLink
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.json_types import JsonObject
from tools_app.core.models import AuditCheckpoint, AuditEntry, AuditHead

FORMAT = "golem-audit-1"
_MOST_LINE_BYTES = 4 * 1024 * 1024
_POINT = ("seq", "entry_hash", "signed_at_ms", "public_key", "signature")


def export_chain(*, golem_id: UUID, path: Path, now: datetime) -> int:
    """Write the chain of one golem to `path`, what was laid away too; returns how many entries. An existing file is not
    overwritten. Raises AuditArchiveBroken.
    """
    head = AuditHead.objects.filter(golem_id=golem_id).first()
    seq, last_hash = (head.seq, head.entry_hash) if head is not None else (0, "")
    header = {
        "format": FORMAT,
        "golem_id": str(golem_id),
        "exported_at": now.isoformat(),
        "entries": seq,
        "head_hash": last_hash,
    }
    with path.open("x", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n")
        count = 0
        for entry in read_entries(golem_id, up_to=seq):
            file.write(json.dumps(tell_entry(entry)) + "\n")
            count += 1
        for point in AuditCheckpoint.objects.filter(golem_id=golem_id, seq__lte=seq).order_by("seq"):
            file.write(json.dumps({"checkpoint": {name: getattr(point, name) for name in _POINT}}) + "\n")
    return count


def verify_file(path: Path, *, trusted_key: str | None = None) -> ChainReport:
    """Check an exported file; `trusted_key` (hex) is the server's public key as the reader knows it."""
    with path.open(encoding="utf-8") as file:
        try:
            header = read_exact_json(file.readline(_MOST_LINE_BYTES + 1), most_bytes=_MOST_LINE_BYTES)
            golem_id = UUID(header["golem_id"])
            head = (int(header["entries"]), str(header["head_hash"]))
            if header["format"] != FORMAT:
                raise ValueError(header["format"])
            points = [
                AuditCheckpoint(golem_id=golem_id, **row["checkpoint"]) for row in _rows(path) if "checkpoint" in row
            ]
            return verify_chain(
                entries=_entries(golem_id, _rows(path)),
                checkpoints=points,
                head=head if head[0] else None,
                trusted_key=trusted_key,
            )
        except (ValueError, KeyError, TypeError) as error:
            return ChainReport(0, 0, BrokenLink(0, f"the file is no export of an audit chain: {error}"))


def _rows(path: Path) -> Iterator[JsonObject]:
    with path.open(encoding="utf-8") as file:
        file.readline()
        while line := file.readline(_MOST_LINE_BYTES + 1):
            yield read_exact_json(line, most_bytes=_MOST_LINE_BYTES)


def _entries(golem_id: UUID, rows: Iterable[JsonObject]) -> Iterator[AuditEntry]:
    for row in rows:
        if "entry" in row:
            yield AuditEntry(golem_id=golem_id, **row["entry"])
