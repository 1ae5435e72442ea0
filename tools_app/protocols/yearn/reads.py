"""Reads what is told of a vault: how it earns, what it can give now, and what its strategies reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.core.units import BPS
from tools_app.standards.erc4626 import MAX_DEPOSIT, TO_ASSETS, Vault
from tools_app.standards.read_all_or_fail import read_all
from tools_app.standards.vault_logs import DAY_SECONDS
from tools_app.toolkit.context import ChainReader, ReadCall

YEAR_SECONDS: Final = 365 * DAY_SECONDS
RATE_SCALE: Final = 10**12
"""`profitUnlockingRate` counts in so many parts of a share a second."""
TOTAL_ASSETS: Final = "function totalAssets() view returns (uint256)"
TOTAL_SUPPLY: Final = "function totalSupply() view returns (uint256)"
TOTAL_IDLE: Final = "function totalIdle() view returns (uint256)"
UNLOCKING: Final = "function profitUnlockingRate() view returns (uint256)"
UNLOCKED_AT: Final = "function fullProfitUnlockDate() view returns (uint256)"
IS_SHUTDOWN: Final = "function isShutdown() view returns (bool)"
QUEUE: Final = "function get_default_queue() view returns (address[])"
MAX_WITHDRAW: Final = (
    "function maxWithdraw(address owner, uint256 max_loss, address[] strategies) view returns (uint256)"
)
REPORTED: Final = (
    "event StrategyReported(address indexed strategy, uint256 gain, uint256 loss, uint256 current_debt,"
    " uint256 protocol_fees, uint256 total_fees, uint256 total_refunds)"
)
_NOBODY: Final = "0x0000000000000000000000000000000000000001"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a vault stands: base units of its asset in all and idle, what a whole share is worth, the yearly rate at
    which profit unlocks now in basis points, how many strategies it lends to, how much more it takes.
    """

    assets: int
    idle: int
    share_price: int
    rate_bps: int
    strategies: int
    room: int
    is_shutdown: bool


def read_standing(reader: ChainReader, vault: Vault) -> Standing:
    """One batch. Raises the node's errors, and PositionsUnreadable where the vault does not tell."""
    unit = 10 ** reader.token(vault.asset).decimals
    values = read_all(
        reader,
        [
            *(
                ReadCall(vault.address, each)
                for each in (TOTAL_ASSETS, TOTAL_IDLE, TOTAL_SUPPLY, UNLOCKING, UNLOCKED_AT, IS_SHUTDOWN, QUEUE)
            ),
            ReadCall(vault.address, TO_ASSETS, (unit,)),
            ReadCall(vault.address, MAX_DEPOSIT, (_NOBODY,)),
        ],
    )
    assets, idle, supply, rate, until, shutdown, queue, price, room = (each[0] for each in values)
    is_unlocking = supply and int(until) > reader.block.timestamp
    yearly = int(rate) * YEAR_SECONDS * BPS // (RATE_SCALE * int(supply)) if is_unlocking else 0
    return Standing(int(assets), int(idle), int(price), yearly, len(queue), int(room), is_shutdown=bool(shutdown))


@dataclass(frozen=True, slots=True)
class _Reported:
    gain: int
    loss: int
    total_fees: int


_REPORTS: Final = AbiEvent(REPORTED, _Reported)


def read_yearly_bps(reader: ChainReader, vault: Vault, *, days: int, assets: int) -> int | None:
    """Simple yearly rate of what strategies reported in the last `days`, losses and fees taken off, on what is inside
    now; None where the chain is younger than that. Raises the node's errors.
    """
    first = reader.first_block_since(reader.block.timestamp - days * DAY_SECONDS)
    if not first.number or not assets:
        return None
    logs = reader.logs(
        address=vault.address, topics=[event_topic(REPORTED)], from_block=first.number, to_block=reader.block.number
    )
    net = sum(each.gain - each.loss - each.total_fees for each in _REPORTS.list(logs))
    return net * BPS * 365 // (assets * days)
