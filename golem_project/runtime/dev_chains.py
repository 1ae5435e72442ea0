"""Starts and stops private test chains of `golem_project/embedded` for the testnet tools.

The embedded side knows nothing of the product and the tools know nothing of anvil; wiring puts this between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.dev_pool import DevChainRefused
from golem_project.embedded.world.dev_registry import DevChainsExhausted, DevChainUnknown
from tools_app.core.errors import InvalidParams
from tools_app.subsystems.testnet.dev_chains import (
    DevAccount,
    DevBalance,
    DevChainFailed,
    DevChainLimit,
    DevChainNotFound,
    DevChainState,
    DevPool,
    DevPoolWish,
)

if TYPE_CHECKING:
    from golem_project.embedded.world import dev_chain

T = TypeVar("T")


class EmbeddedDevChains:
    """The DevChains interface over the embedded chains; `folder` is shared by every process of this server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _chains(self) -> dev_chain.DevChains:
        # Imported when a test chain is first asked for: it brings signing, which no web process needs at start.
        from golem_project.embedded.world.dev_chain import DevChains

        return DevChains(self._folder)

    def start(
        self, *, golem_id: UUID, versions: tuple[str, ...], seed_liquidity: bool, funded_accounts: int
    ) -> DevChainState:
        """See DevChains."""
        return _state(
            _typed(
                lambda: self._chains.start(
                    golem_id=golem_id,
                    versions=versions,
                    seed_liquidity=seed_liquidity,
                    funded_accounts=funded_accounts,
                )
            )
        )

    def describe(self, *, golem_id: UUID, chain_ref: str | None) -> DevChainState:
        """See DevChains."""
        return _state(_typed(lambda: self._chains.describe(golem_id=golem_id, chain_ref=chain_ref)))

    def stop(self, *, golem_id: UUID, chain_ref: str | None) -> DevChainState:
        """See DevChains."""
        return _state(_typed(lambda: self._chains.stop(golem_id=golem_id, chain_ref=chain_ref)))

    def travel(self, *, golem_id: UUID, chain_ref: str | None, seconds: int, blocks: int) -> DevChainState:
        """See DevChains."""
        return _state(
            _typed(lambda: self._chains.travel(golem_id=golem_id, chain_ref=chain_ref, seconds=seconds, blocks=blocks))
        )

    def fund(
        self, *, golem_id: UUID, chain_ref: str | None, address: str, native_wei: int, tokens: Mapping[str, int]
    ) -> DevAccount:
        """See DevChains."""
        account = _typed(
            lambda: self._chains.fund(
                golem_id=golem_id, chain_ref=chain_ref, address=address, native_wei=native_wei, tokens=tokens
            )
        )
        balances = tuple(DevBalance(**asdict(balance)) for balance in account.balances)
        return DevAccount(address=account.address, native_wei=account.native_wei, balances=balances)

    def open_pool(self, *, golem_id: UUID, chain_ref: str | None, wish: DevPoolWish) -> DevPool:
        """See DevChains."""
        from golem_project.embedded.world.dev_pool import DevPoolWish as EmbeddedPoolWish

        wished = EmbeddedPoolWish(**asdict(wish))
        return _pool(_typed(lambda: self._chains.open_pool(golem_id=golem_id, chain_ref=chain_ref, wish=wished)))


def _typed(call: Callable[[], T]) -> T:
    try:
        return call()
    except DevChainUnknown as error:
        raise DevChainNotFound(str(error)) from None
    except DevChainsExhausted as error:
        raise DevChainLimit(str(error)) from None
    except DevChainRefused as error:
        raise InvalidParams(str(error)) from None
    except EmbeddedError as error:
        raise DevChainFailed(str(error)) from None


def _state(state: dev_chain.DevChainState) -> DevChainState:
    return DevChainState(
        chain_ref=state.chain_ref,
        chain_id=state.chain_id,
        block_number=state.block_number,
        block_timestamp=state.block_timestamp,
        started_at=state.started_at,
        expires_at=state.expires_at,
        funded_addresses=tuple(state.funded_addresses),
        contracts=dict(state.contracts),
        tokens=dict(state.tokens),
        pools=tuple(_pool(pool) for pool in state.pools),
    )


def _pool(pool: dev_chain.DevPool) -> DevPool:
    return DevPool(**asdict(pool))
