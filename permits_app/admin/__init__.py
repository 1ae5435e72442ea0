"""The admin of golems as a whole, permits, limits, ledgers and wallets."""

from __future__ import annotations

from permits_app.admin import golems, halts, ledgers, limits, permits, venue_trust, wallets

__all__ = ["golems", "halts", "ledgers", "limits", "permits", "venue_trust", "wallets"]
