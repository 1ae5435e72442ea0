"""How the admin looks and is arranged."""

from __future__ import annotations

UNFOLD = {
    "SITE_TITLE": "Golem",
    "SITE_HEADER": "Golem",
    "SITE_SUBHEADER": "Control plane for autonomous DeFi agents",
    "SITE_SYMBOL": "shield_lock",
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
}
