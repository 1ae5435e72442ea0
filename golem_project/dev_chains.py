"""Private test chains as the testnet tools know them: the embedded ones, with their refusals as typed errors.

Wiring hands one of these down under the interface `tools_app.subsystems.testnet.dev_chains.DevChains`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from uuid import UUID

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world import dev_chain, dev_pool
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


class EmbeddedDevChains:
    """The embedded test chains below one folder; every process that names the same folder sees the same chains."""

    def __init__(self, registry_dir: Path) -> None:
        self._chains = dev_chain.DevChains(registry_dir)

    def start(
        self, *, golem_id: UUID, versions: tuple[str, ...], seed_liquidity: bool, funded_accounts: int
    ) -> DevChainState:
        """Start a chain. Raises DevChainLimit, DevChainFailed, InvalidParams."""
        with typed_errors():
            return _state(
                self._chains.start(
                    golem_id=golem_id,
                    versions=versions,
                    seed_liquidity=seed_liquidity,
                    funded_accounts=funded_accounts,
                )
            )

    def describe(self, *, golem_id: UUID, chain_ref: str | None) -> DevChainState:
        """The state of a running chain. Raises DevChainNotFound, DevChainFailed."""
        with typed_errors():
            return _state(self._chains.describe(golem_id=golem_id, chain_ref=chain_ref))

    def stop(self, *, golem_id: UUID, chain_ref: str | None) -> DevChainState:
        """End a chain. Raises DevChainNotFound, DevChainFailed."""
        with typed_errors():
            return _state(self._chains.stop(golem_id=golem_id, chain_ref=chain_ref))

    def travel(self, *, golem_id: UUID, chain_ref: str | None, seconds: int, blocks: int) -> DevChainState:
        """Move a chain's clock. Raises DevChainNotFound, DevChainFailed, InvalidParams."""
        with typed_errors():
            return _state(self._chains.travel(golem_id=golem_id, chain_ref=chain_ref, seconds=seconds, blocks=blocks))

    def fund(
        self, *, golem_id: UUID, chain_ref: str | None, address: str, native_wei: int, tokens: Mapping[str, int]
    ) -> DevAccount:
        """Fund an account. Raises DevChainNotFound, DevChainFailed, InvalidParams."""
        with typed_errors():
            found = self._chains.fund(
                golem_id=golem_id, chain_ref=chain_ref, address=address, native_wei=native_wei, tokens=tokens
            )
        balances = tuple(DevBalance(**asdict(balance)) for balance in found.balances)
        return DevAccount(found.address, found.native_wei, balances)

    def open_pool(self, *, golem_id: UUID, chain_ref: str | None, wish: DevPoolWish) -> DevPool:
        """Open a pool. Raises DevChainNotFound, DevChainFailed, InvalidParams."""
        with typed_errors():
            found = self._chains.open_pool(
                golem_id=golem_id, chain_ref=chain_ref, wish=dev_pool.DevPoolWish(**asdict(wish))
            )
        return DevPool(**asdict(found))


@contextmanager
def typed_errors() -> Iterator[None]:
    """What the embedded chains refuse, as errors an agent can act on."""
    try:
        yield
    except DevChainUnknown as error:
        raise DevChainNotFound(str(error)) from error
    except DevChainsExhausted as error:
        raise DevChainLimit(str(error)) from error
    except DevChainRefused as error:
        raise InvalidParams(str(error)) from error
    except EmbeddedError as error:
        raise DevChainFailed() from error


def _state(found: dev_chain.DevChainState) -> DevChainState:
    return DevChainState(
        chain_ref=found.chain_ref,
        chain_id=found.chain_id,
        block_number=found.block_number,
        block_timestamp=found.block_timestamp,
        started_at=found.started_at,
        expires_at=found.expires_at,
        funded_addresses=found.funded_addresses,
        contracts=dict(found.contracts),
        tokens=dict(found.tokens),
        pools=tuple(DevPool(**asdict(pool)) for pool in found.pools),
    )
