"""Immutable values a tool reads: the golem it works for, blocks, tokens, prices, logs, receipts."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tools_app.toolkit.enums import Phase

NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
"""The address that stands for a chain's own coin wherever a token address is expected."""


@dataclass(frozen=True, slots=True)
class GolemView:
    """What a tool may know of its golem. `address` is None until a wallet is configured. Which chains it has is told by
    `tools_app.toolkit.golem_chains`.
    """

    id: UUID
    name: str
    address: str | None
    home_chain_id: int
    base_asset: str
    phase: Phase
    other_chain_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockRef:
    """A named block: number, hash, timestamp in seconds, base fee in wei; gas it may hold, 0 where nobody said."""

    number: int
    hash: str
    timestamp: int
    base_fee: int
    gas_limit: int = 0


@dataclass(frozen=True, slots=True)
class TokenMeta:
    """A token as our registry or its own contract describes it. `symbol` is data from outside, never instruction."""

    chain_id: int
    address: str
    symbol: str
    decimals: int
    name: str
    is_registered: bool
    is_simulated: bool = False
    has_transfer_fee: bool = False

    @property
    def is_native(self) -> bool:
        return self.address == NATIVE


@dataclass(frozen=True, slots=True)
class FeedPrice:
    """A USD price from an on-chain feed: integer `answer` with `decimals`, the round, and its age when read."""

    feed: str
    answer: int
    decimals: int
    round_id: int
    updated_at: int
    age_seconds: int


@dataclass(frozen=True, slots=True)
class FeeQuote:
    """EIP-1559 fees in wei per gas: the next block's base fee, a priority fee, and the cap a permit is priced at."""

    base_fee: int
    priority_fee: int
    max_fee: int


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One EVM log; topics and data are 0x-hex, address is checksummed. `block_hash` is empty for a simulated one."""

    address: str
    topics: tuple[str, ...]
    data: str
    block_number: int
    tx_hash: str
    log_index: int
    block_hash: str = ""


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which logs to look for: of which contracts (none: of any), topics as of eth_getLogs, blocks inclusive."""

    addresses: tuple[str, ...]
    topics: tuple[str | tuple[str, ...] | None, ...]
    from_block: int
    to_block: int


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """What the chain says of one mined transaction. Gas in gas units, price in wei per gas.

    Of a user operation it says success, gas and logs of that operation alone, and its `cost` in wei, which is no
    product of the two; `paid_by` is the paymaster that paid it instead of the account.
    """

    tx_hash: str
    succeeded: bool
    block_number: int
    block_hash: str
    gas_used: int
    effective_gas_price: int
    l1_fee: int
    logs: tuple[LogEntry, ...]
    cost: int | None = None
    paid_by: str = ""

    @property
    def fee(self) -> int:
        """Wei paid for this transaction."""
        if self.cost is not None:
            return self.cost
        return self.gas_used * self.effective_gas_price + self.l1_fee
