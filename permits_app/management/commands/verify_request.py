"""`manage.py verify_request`: recompute the digest of a change request, from its row or from an exported file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from permits_app.approvals.request_digest import export_request, verify_export
from permits_app.custody.safe_warnings import look_at_safe, look_without_rows, read_exported
from permits_app.management.exported_request import ExportedBinding, read_exported_request
from permits_app.management.safe_lines import write_safe_lines
from permits_app.models import ChangeRequest
from tools_app.core import clock
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.stored_json import read_stored

_MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _CheckingOptions:
    """Which request or file, and whether a file's Safe is read from its chain."""

    request_id: UUID | None
    file: Path | None
    chain: bool


class Command(BaseCommand):
    """Says of each hash whether it holds, and shows what would be signed. Leaves with 1 when one does not."""

    help = "Check a change request: --file needs neither database nor node, --file with --chain a node alone."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """An id or a file."""
        parser.add_argument("request_id", nargs="?", type=UUID, help="of a request in this server's database")
        parser.add_argument("--file", type=Path, help="exported from the request's page")
        parser.add_argument(
            "--chain",
            action="store_true",
            help="with --file: ask the node of GOLEM_RPC_URL_<chain id> what acts for the Safe now; an id always asks",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Check, report, fail."""
        given = read_stored(_CheckingOptions, options)
        document = self._read(given.request_id, given.file)
        try:
            findings, binding = verify_export(document), read_exported_request(document)
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError(f"this is no exported request: {error!r}") from None
        self._show(binding)
        for finding in findings:
            mark = self.style.SUCCESS("holds") if finding.holds else self.style.ERROR("DOES NOT HOLD")
            self.stdout.write(f"{mark}  {finding.what} {finding.detail}".rstrip())
        self._tell_safe(document, binding.change.safe_tx, given.request_id, asks_chain=given.chain)
        if not all(finding.holds for finding in findings):
            raise CommandError("this is not what the owners were asked; do not approve it")

    def _read(self, request_id: UUID | None, path: Path | None) -> dict[str, object]:
        if (request_id is None) == (path is None):
            raise CommandError("name a request, or a file with --file")
        if path is not None:
            try:
                document: dict[str, object] = read_exact_json(path.read_text(encoding="utf-8"), most_bytes=_MOST_BYTES)
            except (OSError, ValueError) as error:
                raise CommandError(f"{path} cannot be read: {error}") from None
            return document
        requests = ChangeRequest.objects.select_related("permit")
        request = requests.filter(pk=request_id).first() if request_id is not None else None
        if request is None:
            raise CommandError(f"there is no request {request_id}")
        return json.loads(json.dumps(export_request(request)))  # type: ignore[no-any-return]

    def _tell_safe(
        self,
        document: dict[str, object],
        signed: Mapping[str, str] | None,
        request_id: UUID | None,
        *,
        asks_chain: bool,
    ) -> None:
        """Name what acts for the Safe that its owners did not agree to: of a request by its id, and of a file with
        --chain, as the chain says now; of a file alone, as it was when it was exported.
        """
        if signed is None:
            return
        try:
            told = read_exported(document)
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError(f"this is no exported request: {error!r}") from None
        chain_id, safe, now = int(signed["chain_id"]), signed["safe"], clock.now()
        if request_id is not None:
            golem = ChangeRequest.objects.select_related("golem").get(pk=request_id).golem
            write_safe_lines(self, look_at_safe(golem, chain_id=chain_id, safe=safe, now=now))
        elif asks_chain:
            agreed = told.agreed if told is not None else ()
            write_safe_lines(self, look_without_rows(chain_id=chain_id, safe=safe, agreed=agreed, now=now))
        else:
            write_safe_lines(self, told, is_old=True)

    def _show(self, binding: ExportedBinding) -> None:
        shown = binding.shown
        self.stdout.write(f"{binding.title} ({binding.risk_tier.lower()}), asked by {binding.asker}")
        for line in shown.differences:
            self.stdout.write(f"  {line.words}: {line.before} -> {line.after}")
        for call in shown.calls:
            self.stdout.write(f"  {call.function} on {call.to_name} {call.to}")
            for argument in call.arguments:
                self.stdout.write(f"    {argument.name}: {argument.text or argument.raw}")
        for position in shown.positions:
            owed, health = position.owed_after or "nothing", position.health or "no debt"
            self.stdout.write(f"  {position.label} changes by {position.changes}; owed afterwards: {owed}; {health}")
            if position.liquidated:
                self.stdout.write(f"    liquidated {position.liquidated}")
        if shown.measured_loss:
            self.stdout.write(f"  lost in the simulation: {shown.measured_loss}")
        for flow in shown.bounds.leaves_at_most:
            self.stdout.write(f"  leaves at most {flow.units}")
        for flow in shown.bounds.returns_at_least:
            self.stdout.write(f"  arrives at least {flow.units}")
        for promise in shown.bounds.promises:
            self.stdout.write(f"  {promise}")
