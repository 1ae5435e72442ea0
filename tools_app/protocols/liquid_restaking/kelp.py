"""Kelp: rsETH at the price its oracle was told last, requests that leave first in first out after a delay in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.liquid_restaking.addresses import COIN, KELP, RestakingContracts
from tools_app.protocols.liquid_restaking.issuers import Holding, Request, Standing
from tools_app.standards import erc20
from tools_app.toolkit.context import AbiValues, ReadCall
from tools_app.toolkit.positions import WHEN_REPAID

DEPOSIT: Final = "function depositETH(uint256 minRSETHAmountExpected, string referralId) payable"
REQUEST: Final = "function initiateWithdrawal(address asset, uint256 rsETHUnstaked, string referralId)"
CLAIM: Final = "function completeWithdrawal(address asset, string referralId)"
REDEEM: Final = "function instantWithdrawal(address asset, uint256 rsETHUnstaked, string referralId)"
PRICE: Final = "function rsETHPrice() view returns (uint256)"
PAUSED: Final = "function paused() view returns (bool)"
LEAST_IN: Final = "function minAmountToDeposit() view returns (uint256)"
ROOM: Final = "function getAssetCurrentLimit(address asset) view returns (uint256)"
LEAST_OUT: Final = "function minRsEthAmountToWithdraw(address asset) view returns (uint256)"
DELAY: Final = "function withdrawalDelayBlocks() view returns (uint256)"
COMMITTED: Final = "function assetsCommitted(address asset) view returns (uint256)"
IS_INSTANT: Final = "function isInstantWithdrawalEnabled(address asset) view returns (bool)"
FEE: Final = "function instantWithdrawalFee() view returns (uint256)"
AT_ONCE: Final = "function getAssetsAvailableForInstantWithdrawal(address asset) view returns (uint256)"
LIQUID: Final = "function balanceOf(address asset) view returns (uint256)"
UNLOCKED: Final = "function nextLockedNonce(address asset) view returns (uint256)"
NONCES: Final = "function userAssociatedNonces(address asset, address user) view returns (uint128 begin, uint128 end)"
ASKED: Final = (
    "function getUserWithdrawalRequest(address asset, address user, uint256 index) view returns"
    " (uint256 rsETHAmount, uint256 expectedAssetAmount, uint256 withdrawalStartBlock, uint256 userNonce)"
)
PRICED: Final = "event RsETHPriceUpdate(uint256 newPrice, uint256 oldPrice)"
QUEUED: Final = (
    "event AssetWithdrawalQueued(address indexed withdrawer, address indexed asset, uint256 rsETHUnstaked,"
    " uint256 indexed userNonce)"
)


@dataclass(frozen=True, slots=True)
class Priced:
    """Wei of a whole token."""

    new_price: int


@dataclass(frozen=True, slots=True)
class KelpQueued:
    """A request that was opened."""

    withdrawer: str
    user_nonce: int


PRICES: Final = AbiEvent(PRICED, Priced)
REQUESTS: Final = AbiEvent(QUEUED, KelpQueued)
BLOCK_SECONDS: Final = 12
"""Seconds between blocks of the chain it counts them on."""


def standing_calls(at: RestakingContracts) -> list[ReadCall]:
    """The reads of how it stands."""
    pool, manager, vault = at.kelp_pool, at.kelp_withdrawals, at.kelp_vault
    return [
        ReadCall(at.kelp_oracle, PRICE),
        ReadCall(pool, PAUSED),
        ReadCall(pool, LEAST_IN),
        ReadCall(pool, ROOM, (COIN,)),
        ReadCall(manager, PAUSED),
        ReadCall(manager, LEAST_OUT, (COIN,)),
        ReadCall(manager, DELAY),
        ReadCall(manager, COMMITTED, (COIN,)),
        ReadCall(manager, IS_INSTANT, (COIN,)),
        ReadCall(manager, FEE),
        ReadCall(manager, UNLOCKED, (COIN,)),
        ReadCall(vault, AT_ONCE, (COIN,)),
        ReadCall(vault, LIQUID, (COIN,)),
    ]


def parse_standing(values: Sequence[AbiValues], at: RestakingContracts) -> Standing:
    """Their answers."""
    told = [each[0] for each in values]
    rate, is_in_paused, least_in, room, is_out_paused, least_out, delay, waiting, instant, fee, unlocked = told[:11]
    at_once, liquid = told[11:]
    return Standing(
        rate=int(rate),
        is_in_paused=bool(is_in_paused),
        is_out_paused=bool(is_out_paused),
        is_claim_paused=bool(is_out_paused),
        waiting=int(waiting),
        liquid=int(liquid),
        at_once=int(at_once) if instant and not is_out_paused else 0,
        fee_bps=int(fee),
        least_in=int(least_in),
        room=int(room),
        least_in_tokens=int(least_out),
        delay=int(delay) * BLOCK_SECONDS,
        delay_blocks=int(delay),
        next_unlocked=int(unlocked),
    )


def account_calls(at: RestakingContracts, account: str) -> list[ReadCall]:
    """The reads of what an account holds."""
    return [erc20.balance_call(at.rseth, account), ReadCall(at.kelp_withdrawals, NONCES, (COIN, account))]


def request_calls(at: RestakingContracts, account: str, count: int) -> list[ReadCall]:
    """The reads of an account's oldest requests."""
    return [ReadCall(at.kelp_withdrawals, ASKED, (COIN, account, index)) for index in range(count)]


def parse_requests(values: Sequence[AbiValues], standing: Standing, *, block: int, now: int) -> tuple[Request, ...]:
    """Requests, oldest first: the oldest is the one that leaves."""
    found = []
    for place, (tokens, expected, start, nonce) in enumerate(values):
        is_unlocked = int(nonce) < standing.next_unlocked
        worth = int(expected) if is_unlocked else min(int(expected), standing.worth(int(tokens)))
        # The chain asks it of the block in which it is called, which is the next one at the earliest.
        blocks = int(start) + standing.delay_blocks - block - 1
        after_delay = now + blocks * BLOCK_SECONDS if blocks > 0 else None
        free_at = after_delay if after_delay is not None or is_unlocked else WHEN_REPAID
        found.append(Request(KELP, int(nonce), place, int(expected), worth, free_at))
    return tuple(found)


def parse_holding(
    values: Sequence[AbiValues], standing: Standing, requests: tuple[Request, ...], *, has_more: bool
) -> Holding:
    """What the account's balances tell."""
    return Holding(KELP, standing, int(values[0][0]), 0, requests, has_more)
