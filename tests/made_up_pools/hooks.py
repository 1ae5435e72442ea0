"""What is known of a made-up hook: the lowest digit of its address says nothing, so each may keep of a trade."""

from __future__ import annotations

from tools_app.toolkit.pool_hooks import HookPower, PoolHooks

ZERO = "0x" + "00" * 20


def hook_of(pool: str, address: str) -> PoolHooks | None:
    """The hook of a pool; None where it has none."""
    return None if address == ZERO else PoolHooks(pool, address, (HookPower.AMOUNTS, HookPower.TRADES))
