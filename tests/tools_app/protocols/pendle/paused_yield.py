"""A yield behind a market that its admin pauses, as Pendle's own base of yields can be."""

from __future__ import annotations

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World


def pause_yield(world: World, share: str) -> None:
    """From now on no share of it moves."""
    world.transact(derive_account("pendle deployer"), share, "pause()")


def go_on(world: World, share: str) -> None:
    """It is as it was."""
    world.transact(derive_account("pendle deployer"), share, "unpause()")
