"""The people who run the local vault by request: whoever values it, and the safe that settles what is asked of it."""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tools_app.protocols.erc4626.addresses import LOCAL_CHAIN_ID, REQUEST, deployments

VAULT: Final = (deployments(LOCAL_CHAIN_ID) or {})[REQUEST]


def value(world: World, worth: int) -> None:
    """Whoever values it tells what everything in it is worth: from now on nothing more is taken back."""
    world.transact(derive_account("erc4626 valuer"), VAULT, "updateNewTotalAssets(uint256)", worth)


def settle(world: World, worth: int | None = None, *, what: str = "settleDeposit(uint256)") -> None:
    """Both of them, at what everything is worth (None: what it was); requests of both ways that can be are settled.

    The safe keeps what comes in, and pays what goes out of that.
    """
    if worth is None:
        (worth,) = world.rpc.read(VAULT, "totalAssets()", returns="(uint256)")
    assert isinstance(worth, int)
    value(world, worth)
    world.transact(derive_account("erc4626 safe"), VAULT, what, worth)
