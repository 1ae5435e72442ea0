"""`manage.py sign_request FILE`: sign an owner's part of an exported request, on a machine of the owner's own.

Asks neither database nor node and sends nothing. It checks every hash of the file itself, shows what would be signed,
asks, and prints 65 bytes to paste into the request's page.
"""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from eth_account import Account
from eth_account.signers.local import LocalAccount

from permits_app.approvals.owner_calls import (
    build_wallet_document,
    compute_safe_tx_hash,
    describe_fields,
    describe_owner_call,
)
from permits_app.approvals.request_digest import verify_export
from permits_app.custody.safe_warnings import read_exported
from permits_app.management.exported_request import ExportedBinding, ShownCall, read_exported_request
from permits_app.management.safe_lines import write_safe_lines
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.required_value import require
from tools_app.core.stored_json import read_stored

_MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _SigningOptions:
    """The file, where the key is, and the hash that is confirmed."""

    file: Path
    keystore: Path | None
    key_file: Path | None
    passphrase_file: Path | None
    confirm: str | None


class Command(BaseCommand):
    """The key is opened after the owner confirmed, used once, and neither kept nor printed."""

    help = "Sign an exported change request with an owner's key, offline."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The file, the key, and the confirmation."""
        parser.add_argument("file", type=Path, help="exported from the request's page")
        key = parser.add_mutually_exclusive_group(required=True)
        key.add_argument("--keystore", type=Path, help="a keystore v3 file; its passphrase is asked for")
        key.add_argument("--key-file", type=Path, help="a file with the private key in hex")
        parser.add_argument("--passphrase-file", type=Path, help="instead of typing the keystore's passphrase")
        parser.add_argument("--confirm", metavar="HASH", help="the hash to sign, instead of typing it when asked")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Check, show, ask, sign."""
        given = read_stored(_SigningOptions, options)
        document = self._read(given.file)
        binding, fields = self._check(document)
        digest = compute_safe_tx_hash(fields)
        self._show(binding, fields)
        self._tell_safe(document)
        self._ask("0x" + digest.hex(), given.confirm)
        account = self._open_key(given)
        signed = account.sign_typed_data(full_message=build_wallet_document(fields))
        # Two independent readings of EIP-712 have to come to the same bytes.
        if bytes(signed.message_hash) != digest:
            raise CommandError("two computations of the hash disagree; nothing is signed")
        self.stdout.write(f"signed by {account.address}")
        self.stdout.write(f"0x{bytes(signed.signature).hex()}")

    def _read(self, path: Path) -> dict[str, object]:
        try:
            document: dict[str, object] = read_exact_json(path.read_text(encoding="utf-8"), most_bytes=_MOST_BYTES)
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} cannot be read: {error}") from None
        return document

    def _check(self, document: dict[str, object]) -> tuple[ExportedBinding, dict[str, str]]:
        try:
            findings, binding = verify_export(document), read_exported_request(document)
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError(f"this is no exported request: {error!r}") from None
        for finding in findings:
            mark = self.style.SUCCESS("holds") if finding.holds else self.style.ERROR("DOES NOT HOLD")
            self.stdout.write(f"{mark}  {finding.what}")
        if not all(finding.holds for finding in findings):
            raise CommandError("the file does not say what its hashes say; do not sign it")
        if binding.change.safe_tx is None:
            raise CommandError("this request is decided on its page; nothing of it is signed for a Safe")
        return binding, binding.change.safe_tx

    def _show(self, binding: ExportedBinding, fields: dict[str, str]) -> None:
        self.stdout.write(f"\n{binding.title} ({binding.risk_tier.lower()}), asked by {binding.asker}")
        if binding.reason:
            self.stdout.write(f"  why: {binding.reason}")
        for line in binding.shown.differences:
            self.stdout.write(f"  {line.words}: {line.before} -> {line.after}  {line.note}".rstrip())
        self.stdout.write("\nWhat you sign:")
        for field in describe_fields(fields):
            self.stdout.write(f"  {field['name']}: {field['text']}")
        self._show_call(read_stored(ShownCall, describe_owner_call(fields)), indent="  ")

    def _tell_safe(self, document: dict[str, object]) -> None:
        try:
            write_safe_lines(self, read_exported(document), is_old=True)
        except (KeyError, TypeError, ValueError) as error:
            raise CommandError(f"this is no exported request: {error!r}") from None

    def _show_call(self, call: ShownCall, *, indent: str) -> None:
        self.stdout.write(f"{indent}{call.function} on {call.to_name} {call.to}")
        for argument in call.arguments:
            self.stdout.write(f"{indent}  {argument.name}: {argument.text}  ({argument.raw})")
        for inner in call.inner:
            self._show_call(read_stored(ShownCall, inner), indent=indent + "  ")

    def _ask(self, wanted: str, given: str | None) -> None:
        typed = given if given is not None else input(f"\nType the hash to sign ({wanted}), or nothing to stop: ")
        if typed.strip().lower() != wanted:
            raise CommandError("nothing was signed")

    def _open_key(self, given: _SigningOptions) -> LocalAccount:
        try:
            if given.key_file is not None:
                opened: LocalAccount = Account.from_key(given.key_file.read_text(encoding="utf-8").strip())
                return opened
            path = given.passphrase_file
            secret = path.read_text(encoding="utf-8").strip() if path else getpass.getpass("Passphrase: ")
            keystore = require(given.keystore).read_text(encoding="utf-8")
            document = read_exact_json(keystore, most_bytes=_MOST_BYTES)
            unlocked: LocalAccount = Account.from_key(Account.decrypt(document, secret))
        except (OSError, ValueError, TypeError, KeyError):
            raise CommandError("the key does not open: wrong file, or wrong passphrase") from None
        return unlocked
