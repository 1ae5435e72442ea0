"""A venue's own SDK as a second opinion: it is asked sums over pools that the question brings, and decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from pydantic import BaseModel

from tools_app.core.errors import GolemError, Recovery

M = TypeVar("M", bound=BaseModel)


class SdkFallbackUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The second opinion cannot be had",
    cleared_by="the SDK runs beside the server (make setup, then make run); quote and swap need none",
):
    """The SDK beside the server does not run, does not answer in time, or answers something else than was asked."""


class OfficialSdk(Protocol):
    """The service that is asked; an answer is a stranger's word, checked against its shape and nothing more."""

    def ask(self, op: str, args: Mapping[str, object], shape: type[M]) -> M:
        """The answer to one question. Raises SdkFallbackUnavailable."""
