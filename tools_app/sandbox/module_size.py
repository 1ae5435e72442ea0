"""Decides how large a module may be on this server."""

from __future__ import annotations

from django.conf import settings

from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.limits import MEBIBYTE, MOST_MODULE_MEBIBYTES


def most_module_bytes() -> int:
    """GOLEM_MODULE_MEBIBYTES, in bytes."""
    return min(int(settings.GOLEM_MODULE_MEBIBYTES), MOST_MODULE_MEBIBYTES) * MEBIBYTE


def check_size(size: int) -> None:
    """Raises ModuleRefused for a module of `size` bytes that is too large here, and says who may allow more."""
    most = most_module_bytes()
    if size > most:
        raise ModuleRefused(
            f"a module has at most {most // MEBIBYTE} MiB here; the operator allows up to {MOST_MODULE_MEBIBYTES} with "
            "GOLEM_MODULE_MEBIBYTES",
            bytes=size,
        )
