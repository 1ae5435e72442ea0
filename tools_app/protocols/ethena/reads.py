"""Reads what is told of sUSDe: the account's shares and cooldown, what a share stands for, and rewards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.protocols.ethena.math import DAY_SECONDS, Reward, Rewards
from tools_app.standards import erc20
from tools_app.standards.erc4626 import INDEX_SHARES, TO_ASSETS, Vault
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.positions import PositionsUnreadable, Reads

COOLDOWNS: Final = "function cooldowns(address account) view returns (uint104 cooldownEnd, uint152 underlyingAmount)"
DURATION: Final = "function cooldownDuration() view returns (uint24)"
HAS_ROLE: Final = "function hasRole(bytes32 role, address account) view returns (bool)"
UNVESTED: Final = "function getUnvestedAmount() view returns (uint256)"
VESTING: Final = "function vestingAmount() view returns (uint256)"
VESTING_SECONDS: Final = 8 * 3_600
"""Rewards drip in over so long, by the contract's own constant."""
TOTAL_ASSETS: Final = "function totalAssets() view returns (uint256)"
REWARDS: Final = "event RewardsReceived(uint256 amount)"
FULLY_RESTRICTED: Final = bytes.fromhex("0a4af4bcc1942295207d9f047442ebdae6170a6e324850f758b14cf99b65c3bd")
"""keccak-256 of FULL_RESTRICTED_STAKER_ROLE."""


@dataclass(frozen=True, slots=True)
class Staked:
    """What an account has: base units of sUSDe, what they stand for, what cools down and until when, and whether the
    issuer shut it out. `index` is what a fixed amount of shares stands for; `duration` how long exits cool down.
    """

    shares: int
    worth: int
    cooling: int
    cooldown_end: int
    duration: int
    index: int
    is_restricted: bool


def ask_staked(vault: Vault, account: str) -> Reads[Staked]:
    """Two batches, one for who has nothing. Raises PositionsUnreadable."""
    balance, cooldown = yield [
        erc20.balance_call(vault.address, account),
        ReadCall(vault.address, COOLDOWNS, (account,)),
    ]
    if not balance.ok or not cooldown.ok:
        raise PositionsUnreadable("sUSDe does not tell balances, or what cools down")
    shares, (end, cooling) = int(balance.values[0]), map(int, cooldown.values)
    if not shares and not cooling:
        return Staked(0, 0, 0, 0, 0, 0, is_restricted=False)
    outcomes = yield [
        ReadCall(vault.address, TO_ASSETS, (shares,)),
        ReadCall(vault.address, DURATION),
        ReadCall(vault.address, TO_ASSETS, (INDEX_SHARES,)),
        ReadCall(vault.address, HAS_ROLE, (FULLY_RESTRICTED, account)),
    ]
    if not all(each.ok for each in outcomes):
        raise PositionsUnreadable("sUSDe does not tell what its shares stand for, or how they are left")
    worth, duration, index, restricted = (each.values[0] for each in outcomes)
    return Staked(shares, int(worth), cooling, end, int(duration), int(index), is_restricted=bool(restricted))


def read_rewards(reader: ChainReader, vault: Vault, *, spans: Sequence[int]) -> tuple[Rewards, ...]:
    """Rewards of spans of days that end now, as many as `spans`, longest first. Raises the node's errors."""
    starts = [reader.block.timestamp - days * DAY_SECONDS for days in spans]
    first = [reader.first_block_since(start) for start in starts]
    logs = reader.logs(
        address=vault.address, topics=[event_topic(REWARDS)], from_block=first[0].number, to_block=reader.block.number
    )
    told = ((log.block_number, decode_log(REWARDS, log)) for log in logs)
    found = tuple(Reward(number, int(event["amount"])) for number, event in told if event is not None)
    # The chain's first block has no parent that would be older.
    return tuple(
        Rewards(days, block.number, block.number > 0, tuple(one for one in found if one.block_number >= block.number))
        for days, block in zip(spans, first, strict=True)
    )
