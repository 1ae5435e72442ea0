"""Prints what who is about to sign for a Safe must know of it."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from permits_app.custody.safe_warnings import SafeNow


def write_safe_lines(command: BaseCommand, looked: SafeNow | None, *, is_old: bool = False) -> None:
    """A line for each thing that the Safe's owners did not agree to, and as of which block; `is_old` for what a file
    says. What a file does not say is said too.
    """
    if looked is None:
        command.stdout.write(
            "the file does not say what acts for the Safe; `manage.py verify_request --file FILE --chain` asks"
        )
        return
    when = f"at block {looked.block}" if looked.block is not None else "which nobody could read"
    of = f"the Safe {looked.safe}, {when}{', as the file says' if is_old else ''}"
    for line in looked.warnings:
        command.stdout.write(command.style.ERROR(f"WARNING  its owners did not agree to this of {of}: {line}"))
    if not looked.warnings:
        command.stdout.write(f"nothing acts for {of}, but what its owners agreed to")
