"""The strategic store as files and back without loss: PLAYBOOK.md, STRATEGY.md, HEURISTICS.toml, strategies/NAME.toml.

What was exported and is read back unchanged changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.actions.restore_directive import write_directive
from memory_app.actions.store_strategy import list_strategies, render_strategy, store_strategy
from memory_app.heuristic_text import apply_heuristics, list_heuristics, render_heuristics
from memory_app.models import Directive, Insight, Strategy
from memory_app.models.directive import Document
from memory_app.models.provenance import Source, Trust
from memory_app.provenance import Provenance
from memory_app.selectors import get_directive
from tools_app.core import audit_log
from tools_app.core.bounded_parsing import read_toml
from tools_app.core.errors import InvalidParams
from tools_app.core.transaction_retry import retry_aborted

HEURISTICS_FILE = "HEURISTICS.toml"
STRATEGY_FOLDER = "strategies"
_MARKDOWN = {Document.PLAYBOOK: "PLAYBOOK.md", Document.STRATEGY: "STRATEGY.md"}
_MOST_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class FileImport:
    """What reading files back changed."""

    documents: int
    heuristics: int
    strategies: int


def export_files(*, golem_id: UUID, folder: Path, actor: str, now: datetime) -> list[Path]:
    """Write every document, the heuristics and every strategy's newest version; returns the files.

    The audit log says who took which files, before the first is written.
    """
    texts: dict[Path, str] = {}
    for document, name in _MARKDOWN.items():
        directive = get_directive(golem_id=golem_id, document=document)
        if directive is not None:
            texts[folder / name] = directive.text
    texts[folder / HEURISTICS_FILE] = render_heuristics(list_heuristics(golem_id=golem_id))
    for strategy in list_strategies(golem_id=golem_id):
        if not strategy.is_quarantined:
            texts[folder / STRATEGY_FOLDER / f"{strategy.name}.toml"] = render_strategy(strategy)
    files = {str(path.relative_to(folder)): sha256(text.encode()).hexdigest() for path, text in texts.items()}
    audit_log.append(golem_id=golem_id, event="StrategiesExported", actor=actor, data={"files": files}, now=now)
    (folder / STRATEGY_FOLDER).mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="")
    return list(texts)


@retry_aborted
def import_files(*, golem_id: UUID, folder: Path, actor: str, reason: str, now: datetime) -> FileImport:
    """Read the files of `folder` back, all or nothing; a file that is not there changes nothing.

    Raises InvalidParams, DirectiveTooLarge, MemoryOwnerUnknown.
    """
    documents = heuristics = strategies = 0
    with transaction.atomic():
        _lock_all(golem_id)
        for document, name in _MARKDOWN.items():
            if (text := _read(folder / name)) is not None:
                before = get_directive(golem_id=golem_id, document=document)
                after = write_directive(
                    golem_id=golem_id, document=document, text=text, reason=reason, actor=actor, now=now
                )
                documents += before is None or before.pk != after.pk
        if (text := _read(folder / HEURISTICS_FILE)) is not None:
            heuristics = apply_heuristics(golem_id=golem_id, text=text, actor=actor, reason=reason, now=now)
        for path in sorted((folder / STRATEGY_FOLDER).glob("*.toml")):
            strategies += _import_strategy(golem_id, path, actor, now)
    return FileImport(documents, heuristics, strategies)


def _lock_all(golem_id: UUID) -> None:
    """Hold the golem and all its rows that the files may change: each file's audit entry comes behind them."""
    for rows in (
        Golem.objects.filter(pk=golem_id),
        Insight.objects.filter(golem_id=golem_id),
        Directive.objects.filter(golem_id=golem_id),
        Strategy.objects.filter(golem_id=golem_id),
    ):
        list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))


def _import_strategy(golem_id: UUID, path: Path, actor: str, now: datetime) -> int:
    text = _read(path) or ""
    try:
        found = read_toml(text, most_bytes=_MOST_BYTES)
        before = {row.name: row.version for row in list_strategies(golem_id=golem_id)}
        row = store_strategy(
            golem_id=golem_id,
            name=found["name"],
            parameters=found.get("parameters", {}),
            description=found["description"],
            chains=found.get("chains", []),
            token_pairs=found.get("token_pairs", []),
            now=now,
            provenance=Provenance(recorded_by=actor, source=Source.OWNER, trust=Trust.REPORTED),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidParams(f"{path.name} is no strategy: {error}", fields={path.name: "TOML of a strategy"}) from None
    return int(before.get(row.name) != row.version)


def _read(path: Path) -> str | None:
    if not path.is_file():
        return None
    if path.stat().st_size > _MOST_BYTES:
        raise InvalidParams(f"{path.name} is larger than {_MOST_BYTES} bytes", fields={path.name: "smaller"})
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            return handle.read()
    except UnicodeDecodeError:
        raise InvalidParams(f"{path.name} is no UTF-8 text", fields={path.name: "UTF-8"}) from None
