"""Calls of the staker, of the positions' manager towards it, and of a list of claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.liquidity_mining.incentives import IncentiveKey
from tools_app.toolkit.plan import Call, Statement

_KEY: Final = "(address rewardToken, address pool, uint256 startTime, uint256 endTime, address refundee)"
MULTICALL: Final = "function multicall(bytes[] data)"
STAKE: Final = f"function stakeToken({_KEY} key, uint256 tokenId)"
UNSTAKE: Final = f"function unstakeToken({_KEY} key, uint256 tokenId)"
CLAIM: Final = "function claimReward(address rewardToken, address to, uint256 amountRequested)"
WITHDRAW: Final = "function withdrawToken(uint256 tokenId, address to, bytes data)"
HAND_IN: Final = "function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)"
CLAIM_LISTED: Final = "function claim(uint256 index, address account, uint256 amount, bytes32[] merkleProof)"
ALL_OF_IT: Final = 0
"""As the staker reads an amount that is claimed."""


def hand_in(manager: str, *, account: str, staker: str, position_id: str) -> Call:
    """The position goes to the staker, which keeps it for the account."""
    data = encode_call(HAND_IN, account, staker, int(position_id), b"")
    return Call(manager, data, 0, f"Hand Uniswap V3 position {position_id} to the staker")


def stake(staker: str, *, position_id: str, key: IncentiveKey) -> Call:
    """The position, which lies there, is staked in one incentive."""
    return Call(staker, _stake(key, position_id), 0, f"Stake Uniswap V3 position {position_id}")


class StakerSteps:
    """Steps of one call to the staker, and what the plan says of them."""

    def __init__(self, staker: str, account: str) -> None:
        self._staker, self._account = staker, account
        self._steps: list[bytes] = []
        self.statements: list[Statement] = []

    def unstake(self, key: IncentiveKey, position_id: str) -> None:
        """What the stake earned is credited."""
        self._steps.append(encode_call(UNSTAKE, key.parts, int(position_id)))
        self.statements.append(state(self._staker, position_id, "unstaked", key))

    def stake(self, key: IncentiveKey, position_id: str) -> None:
        """It goes on earning."""
        self._steps.append(_stake(key, position_id))
        self.statements.append(state(self._staker, position_id, "staked", key))

    def claim(self, tokens: Sequence[str]) -> None:
        """All that is credited of each comes to the account."""
        self._steps += [encode_call(CLAIM, token, self._account, ALL_OF_IT) for token in tokens]

    def withdraw(self, position_id: str) -> None:
        """The position comes back to the account."""
        self._steps.append(encode_call(WITHDRAW, int(position_id), self._account, b""))

    def call(self, label: str) -> Call:
        """All of them in one."""
        return Call(self._staker, encode_call(MULTICALL, self._steps), 0, label)


def claim_listed(
    distributor: str, *, index: int, account: str, amount: int, proof: Sequence[bytes], label: str
) -> Call:
    """What a list owes the account."""
    return Call(distributor, encode_call(CLAIM_LISTED, index, account, amount, list(proof)), 0, label)


def state(staker: str, position_id: str, word: str, key: IncentiveKey) -> Statement:
    """That a position is staked or unstaked, in which incentive."""
    return Statement(staker, f"position {position_id}", word, str(key))


def _stake(key: IncentiveKey, position_id: str) -> bytes:
    return encode_call(STAKE, key.parts, int(position_id))
