"""What every admin page here shares, and the pages of accounts and schedules."""

from __future__ import annotations

from tools_app.admin import accounts_and_schedule

__all__ = ["accounts_and_schedule"]
