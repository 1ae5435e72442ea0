"""Fixtures of more than one file of this folder."""

from __future__ import annotations

from tests.permits_app.execution.zerodev_golem import zerodev

__all__ = ["zerodev"]
