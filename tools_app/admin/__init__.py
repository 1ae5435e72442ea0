"""What every admin page here shares, and the pages of accounts and schedules."""

from __future__ import annotations

from tools_app.admin import system

__all__ = ["system"]
