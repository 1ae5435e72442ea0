"""Django's admin looks here for what this package shows of its own."""

from __future__ import annotations

from golem_project.heartbeat import admin as heartbeat_admin

__all__ = ["heartbeat_admin"]
