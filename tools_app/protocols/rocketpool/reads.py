"""Reads for the tools what they need of the network, in one batch after the storage has named its contracts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.rocketpool.addresses import RocketPoolContracts
from tools_app.protocols.rocketpool.math import ONE, Rate, RateReport
from tools_app.standards import erc20
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader, ReadCall

EXCHANGE_RATE: Final = "function getExchangeRate() view returns (uint256)"
ETH_VALUE: Final = "function getEthValue(uint256 rethAmount) view returns (uint256)"
COLLATERAL: Final = "function getTotalCollateral() view returns (uint256)"
POOL_BALANCE: Final = "function getBalance() view returns (uint256)"
MOST_DEPOSIT: Final = "function getMaximumDepositAmount() view returns (uint256)"
ENABLED: Final = "function getDepositEnabled() view returns (bool)"
LEAST_DEPOSIT: Final = "function getMinimumDeposit() view returns (uint256)"
POOL_SIZE: Final = "function getMaximumDepositPoolSize() view returns (uint256)"
DEPOSIT_FEE: Final = "function getDepositFee() view returns (uint256)"
STAKING_ETH: Final = "function getStakingETHBalance() view returns (uint256)"
NODE_FEE: Final = "function getNodeFee() view returns (uint256)"
ACTIVE_MINIPOOLS: Final = "function getActiveMinipoolCount() view returns (uint256)"
NODE_COUNT: Final = "function getNodeCount() view returns (uint256)"
NODE_ADDRESSES: Final = "function getNodeAddresses(uint256 offset, uint256 limit) view returns (address[])"
AVERAGE_FEE: Final = "function getNodeAverageFee(address node) view returns (uint256)"
ACTIVE_OF: Final = "function getNodeActiveMinipoolCount(address node) view returns (uint256)"
STAKING_OF: Final = "function getNodeStakingMinipoolCount(address node) view returns (uint256)"
UPDATED: Final = (
    "event BalancesUpdated(uint256 indexed block, uint256 slotTimestamp, uint256 totalEth, uint256 stakingEth,"
    " uint256 rethSupply, uint256 blockTimestamp)"
)
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class _Updated:
    slot_timestamp: int
    total_eth: int
    reth_supply: int


_UPDATED: Final = AbiEvent(UPDATED, _Updated)


@dataclass(frozen=True, slots=True)
class RocketPoolState:
    """Rates, the deposit pool, and of an account its rETH. Amounts in wei."""

    rate: Rate
    collateral: int
    pool_balance: int
    most_deposit: int
    least_deposit: int
    pool_size: int
    is_enabled: bool
    held: int = 0


@dataclass(frozen=True, slots=True)
class Operator:
    """One node operator. `fee` is a share of 1e18."""

    address: str
    active: int
    staking: int
    fee: int


def read_network(reader: ChainReader, at: RocketPoolContracts, account: str | None) -> RocketPoolState:
    """The network as it stands. Raises ContractOutputUnexpected, the node's errors."""
    calls = [
        ReadCall(at.reth, EXCHANGE_RATE),
        ReadCall(at.settings, DEPOSIT_FEE),
        ReadCall(at.reth, COLLATERAL),
        ReadCall(at.deposit_pool, POOL_BALANCE),
        ReadCall(at.deposit_pool, MOST_DEPOSIT),
        ReadCall(at.settings, LEAST_DEPOSIT),
        ReadCall(at.settings, POOL_SIZE),
        ReadCall(at.settings, ENABLED),
    ]
    if account is not None:
        calls.append(erc20.balance_call(at.reth, account))
    rate, fee, collateral, balance, most, least, size, enabled, *held = (v[0] for v in read_all(reader, calls))
    return RocketPoolState(
        Rate(int(rate), int(fee)),
        int(collateral),
        int(balance),
        int(most),
        int(least),
        int(size),
        bool(enabled),
        int(held[0]) if held else 0,
    )


def read_operators(reader: ChainReader, at: RocketPoolContracts, *, limit: int) -> tuple[list[Operator], int]:
    """The first `limit` operators in the network's own order, and how many there are."""
    nodes = at.nodes
    ((count,), (addresses,)) = read_all(
        reader, [ReadCall(nodes, NODE_COUNT), ReadCall(nodes, NODE_ADDRESSES, (0, limit))]
    )
    calls = [
        call
        for node in addresses
        for call in (
            ReadCall(nodes, AVERAGE_FEE, (node,)),
            ReadCall(at.minipools, ACTIVE_OF, (node,)),
            ReadCall(at.minipools, STAKING_OF, (node,)),
        )
    ]
    figures = [int(values[0]) for values in read_all(reader, calls)] if calls else []
    found = [
        Operator(str(node), figures[3 * index + 1], figures[3 * index + 2], figures[3 * index])
        for index, node in enumerate(addresses)
    ]
    return found, int(count)


def read_reports(reader: ChainReader, at: RocketPoolContracts, *, days: int) -> list[RateReport]:
    """What watchers reported in the last `days`, oldest first. Raises the node's errors."""
    first = reader.first_block_since(reader.block.timestamp - days * _DAY_SECONDS).number
    logs = reader.logs(
        address=at.balances, topics=[event_topic(UPDATED)], from_block=first, to_block=reader.block.number
    )
    found = []
    for log in logs:
        told = _UPDATED.read(log)
        if told is not None and told.reth_supply:
            rate = told.total_eth * ONE // told.reth_supply
            found.append(RateReport(told.slot_timestamp, rate, (log.block_number, log.log_index)))
    return sorted(found, key=lambda each: each.place)
