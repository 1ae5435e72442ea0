"""What calls to the staker and to a list of claims do, read from their bytes; written from their interfaces.

Neither moves a token by an amount that its bytes tell: what a stake earned and what a list owes the chain is asked, and
which position goes in or out of which incentive is held word for word to what the plan says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools_app.protocols.uniswap.liquidity_mining.addresses import MiningContracts
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, ItemGiven, Statement

_KEY: Final = "(address,address,uint256,uint256,address)"
_MULTICALL: Final = "function multicall(bytes[])"
_STAKE: Final = f"function stakeToken({_KEY},uint256)"
_UNSTAKE: Final = f"function unstakeToken({_KEY},uint256)"
_CLAIM: Final = "function claimReward(address,address,uint256)"
_WITHDRAW: Final = "function withdrawToken(uint256,address,bytes)"
_HAND_IN: Final = "function safeTransferFrom(address,address,uint256,bytes)"
_CLAIM_LISTED: Final = "function claim(uint256,address,uint256,bytes32[])"
_PAID_IN: Final = "function token() view returns (address)"
_CLAIMED: Final = "function isClaimed(uint256) view returns (bool)"
_ALL_OF_IT: Final = 0


@dataclass(frozen=True, slots=True)
class _MiningDesk:
    manager: str
    contracts: MiningContracts
    account: str
    into: Effects

    def state(self, number: int, word: str, key: Sequence[Any]) -> None:  # Any: a value of the ABI's type
        text = ":".join(map(str, key))
        self.into.statements.append(Statement(self.contracts.staker, f"position {number}", word, text))


def is_handed_in(data: bytes) -> bool:
    """Whether a call to the positions' manager hands one over."""
    return calls(data, _HAND_IN)


def read_handed_in(call: Call, *, account: str, contracts: MiningContracts, into: Effects) -> None:
    """A position goes to the staker, for the account and staked nowhere yet. Raises UnknownCall."""
    giver, taker, number, data = read_exactly(call.data, _HAND_IN)
    if call.value or giver != account or taker != contracts.staker or data:
        raise UnknownCall("a position is handed to somebody who is not the staker, or with words for it")
    into.items.append(ItemGiven(call.to, number, taker))


def read_staker(call: Call, *, manager: str, account: str, contracts: MiningContracts, into: Effects) -> None:
    """What a call to the staker does, step by step. Raises UnknownCall."""
    if call.value:
        raise UnknownCall("the staker is sent coin")
    desk = _MiningDesk(manager, contracts, account, into)
    steps: Sequence[bytes] = (call.data,)
    if calls(call.data, _MULTICALL):
        (steps,) = read_exactly(call.data, _MULTICALL)
    for step in steps:
        _read_step(step, desk)


def read_listed(call: Call, *, account: str, contracts: MiningContracts, chain: ChainReader, into: Effects) -> None:
    """What a list of claims owes the account comes to it. Raises UnknownCall, and what the chain raises."""
    list_ = str(contracts.distributor)
    if call.value or not calls(call.data, _CLAIM_LISTED):
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of the list of claims is no claim, or is sent coin")
    index, owner, amount, _ = read_exactly(call.data, _CLAIM_LISTED)
    if chain.call(list_, _CLAIMED, index)[0]:
        raise UnknownCall(f"claim {index} of the list was paid already")
    into.receives[str(chain.call(list_, _PAID_IN)[0])] += amount
    into.recipients.append(owner)


def _read_step(step: bytes, desk: _MiningDesk) -> None:
    if calls(step, _STAKE):
        key, number = read_exactly(step, _STAKE)
        desk.state(number, "staked", key)
    elif calls(step, _UNSTAKE):
        key, number = read_exactly(step, _UNSTAKE)
        desk.state(number, "unstaked", key)
    elif calls(step, _CLAIM):
        token, recipient, amount = read_exactly(step, _CLAIM)
        if amount != _ALL_OF_IT:
            raise UnknownCall("a part of a reward is claimed, and the rest would stay")
        desk.into.open_minimums.add(token)
        desk.into.recipients.append(recipient)
    elif calls(step, _WITHDRAW):
        number, recipient, data = read_exactly(step, _WITHDRAW)
        if data:
            raise UnknownCall("a position comes back with words for whoever gets it")
        desk.into.items.append(ItemGiven(desk.manager, number, recipient))
        desk.into.recipients.append(recipient)
    else:
        raise UnknownCall(f"selector 0x{step[:4].hex()} of the staker is not known")
