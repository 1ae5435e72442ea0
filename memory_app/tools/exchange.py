"""Tools that write a golem's memory to one signed file and take a predecessor's in."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django.db import transaction
from pydantic import AfterValidator, Field

from memory_app.actions.export_grimoire import archive_folder, export_grimoire
from memory_app.actions.import_grimoire import import_grimoire
from memory_app.archive_file import check_archive, find_archive
from memory_app.insights import show_percent
from memory_app.tools.families import Confidence, memory
from memory_app.tools.recall import read_percent
from tools_app.toolkit.canonical_param_values import Meaning, spell_decimal
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, PiTool, TickBudget
from tools_app.toolkit.params import Flag
from tools_app.toolkit.plan import LocalEffect

ArchiveName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9._/-]{1,400}$",
        description="Name of an archive in this golem's folder, as memory_export_grimoire answers it.",
    ),
    Meaning.PATH,
]
ImportConfidence = Annotated[
    str,
    Field(pattern=r"^0(\.[0-9]{1,2})?$", description="Confidence of what comes in, 0 to 0.4."),
    AfterValidator(spell_decimal),
]


@dataclass(frozen=True, slots=True)
class ExportedGrimoire:
    """Where the archive lies, what is in it and the hash that was signed."""

    path: str
    episodes_exported: int
    insights_exported: int
    strategies_withheld: int
    file_size_bytes: int
    sha256: str
    public_key: str


@dataclass(frozen=True, slots=True)
class ImportedGrimoire:
    """What came in; nothing was kept when `dry_run`."""

    episodes_imported: int
    insights_imported: int
    strategies_imported: int
    duplicates: int
    quarantined: int
    confidence_override: str
    dry_run: bool


@memory.read(
    query="export",
    budget=TickBudget.SLOW,
    snippet="export: write episodes and insights of this golem to one signed archive on the server, no strategies.",
    guidelines=(
        "Export before the golem ends or hands over, and not at every tick; the archive stays on the server and is "
        "sent to nobody.",
    ),
    pi=PiTool.QUERY_GRIMOIRE,
    aliases=("export_grimoire",),
)
def memory_export_grimoire(
    ctx: ReadContext, include_decayed: Flag = False, min_confidence: Confidence = "0"
) -> ExportedGrimoire:
    """Write this golem's memory to one archive, signed with the server's key.

    Use before the golem ends, or to hand its memory to a successor. Does not hold strategies, quarantined memories,
    directives or secrets, and changes nothing in memory.
    """
    done = export_grimoire(
        golem_id=ctx.golem.id,
        include_decayed=include_decayed,
        min_percent=read_percent(min_confidence),
        actor=f"golem:{ctx.golem.id}",
        now=ctx.now,
    )
    return ExportedGrimoire(
        path=done.archive.path.name,
        episodes_exported=done.episodes,
        insights_exported=done.insights,
        strategies_withheld=done.strategies_withheld,
        file_size_bytes=done.size_bytes,
        sha256=done.archive.sha256,
        public_key=done.archive.public_key,
    )


def preview_import(ctx: WriteContext, path: str, import_confidence: str, dry_run: bool) -> LocalEffect:
    """What the archive holds, once its signature was checked. Raises GrimoireFileRefused."""
    archive = check_archive(find_archive(folder=archive_folder(ctx.golem.id), name=path))
    return LocalEffect(
        f"Take in {archive.rows} rows of {archive.path.name}",
        {"rows": archive.rows, "sha256": archive.sha256, "signed_by": archive.public_key, "dry_run": dry_run},
    )


@memory.local_write(
    budget=TickBudget.SLOW,
    in_database=True,
    preview=preview_import,
    action_class=ActionClass.READ_ONLY,
    snippet="import_grimoire: take in a predecessor's signed archive of memory, all or nothing, at confidence 0.4.",
    guidelines=("Treat what was imported as hearsay until your own outcomes confirm it.",),
)
def memory_import_grimoire(
    ctx: WriteContext,
    capability: Capability,
    path: ArchiveName,
    import_confidence: ImportConfidence = "0.4",
    dry_run: Flag = False,
) -> ImportedGrimoire:
    """Take in an archive of memory whose signature this server trusts, every row or none.

    Use once, when this golem follows another. Does not tune anything, does not bring permits or limits along, and
    refuses a file that was changed in one byte.
    """
    with transaction.atomic():
        done = import_grimoire(
            golem_id=ctx.golem.id,
            archive=check_archive(find_archive(folder=archive_folder(ctx.golem.id), name=path)),
            now=ctx.now,
            actor=f"golem:{ctx.golem.id}",
            confidence_percent=int(Decimal(import_confidence) * 100),
            dry_run=dry_run,
            recorded_tool="memory_import_grimoire",
            recorded_permit_id=capability.permit_id,
        )
    return ImportedGrimoire(
        episodes_imported=done.episodes,
        insights_imported=done.insights,
        strategies_imported=done.strategies,
        duplicates=done.duplicates,
        quarantined=done.quarantined,
        confidence_override=show_percent(done.confidence_percent),
        dry_run=done.dry_run,
    )
