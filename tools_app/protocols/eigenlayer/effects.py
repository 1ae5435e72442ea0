"""Reads what calls to EigenLayer do from their bytes; written from the contracts' interfaces, not from the tools.

A withdrawal is accounted for only if the account is its staker and its withdrawer, and if it waits at the contract.
Whoever leaves an operator has everything queued.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.eigenlayer.addresses import deployments
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import UnknownCall

_DEPOSITED: Final = "function getDepositedShares(address) view returns (address[],uint256[])"
_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_WITHDRAWAL: Final = "(address,address,address,uint256,uint32,address[],uint256[])"
_UNDERLYING: Final = "function underlyingToken() view returns (address)"
_WORTH: Final = "function sharesToUnderlyingView(uint256) view returns (uint256)"
_LEFT: Final = "function getWithdrawableShares(address,address[]) view returns (uint256[],uint256[])"
_ROOT: Final = f"function calculateWithdrawalRoot({_WITHDRAWAL}) pure returns (bytes32)"
_WAITS: Final = "function pendingWithdrawals(bytes32) view returns (bool)"
_QUEUED: Final = f"function getQueuedWithdrawal(bytes32) view returns ({_WITHDRAWAL},uint256[])"
_ROUNDING: Final = 2


def _deposit(reading: Reading, strategy: str, token: str, amount: int) -> None:
    if _token(reading, strategy) != token:
        raise UnknownCall(f"{strategy} does not take {token}")
    reading.spend(token, amount)
    reading.change("restake", token, amount - _ROUNDING, strategy, is_exact=False)


def _delegate(reading: Reading, operator: str, approval: tuple[bytes, int], salt: bytes) -> None:
    signature, expiry = approval
    if signature or expiry or any(salt):
        raise UnknownCall("an approver's signature is handed along, which no tool does")
    reading.state(reading.account, {"operator": operator})


def _redelegate(reading: Reading, operator: str, approval: tuple[bytes, int], salt: bytes) -> None:
    _queue_all(reading)
    _delegate(reading, operator, approval, salt)


def _undelegate(reading: Reading, staker: str) -> None:
    if staker != reading.account:
        raise UnknownCall(f"{staker} would be put out, who is somebody else")
    _queue_all(reading)
    reading.state(reading.account, {"operator": _NOBODY})


def _queue_all(reading: Reading) -> None:
    """Every deposit is queued. A strategy that is unknown has no price and no position."""
    strategies, shares = reading.chain.call(reading.call.to, _DEPOSITED, reading.account)
    for strategy, raw in zip(strategies, shares, strict=True):
        if strategy in reading.at.values() and raw:
            _queue_one(reading, [strategy], [raw], reading.account)


def _queue(reading: Reading, entries: Sequence[AbiValues]) -> None:
    for entry in entries:
        _queue_one(reading, *entry)


def _queue_one(reading: Reading, strategies: Sequence[str], shares: Sequence[int], withdrawer: str) -> None:
    if withdrawer != reading.account or not strategies or len(strategies) != len(shares):
        raise UnknownCall("the withdrawal is not the account's own, or its lists differ in length")
    if len(set(strategies)) != len(strategies):
        raise UnknownCall("a strategy is named twice")
    left, deposited = reading.chain.call(reading.call.to, _LEFT, reading.account, list(strategies))
    for strategy, raw, gives, held in zip(strategies, shares, left, deposited, strict=True):
        token = _token(reading, strategy)
        if not raw or raw > held:
            raise UnknownCall(f"{raw} shares of {strategy} are not there")
        worth = int(reading.ask(strategy, _WORTH, int(gives) * raw // int(held)))
        reading.change("restake", token, -worth - _ROUNDING, strategy, is_exact=False)
        reading.change("request", token, worth - _ROUNDING, is_exact=False)


def _complete(reading: Reading, withdrawal: AbiValues, tokens: Sequence[str], as_tokens: bool) -> None:
    staker, _, withdrawer, _, _, strategies, _ = withdrawal
    if staker != reading.account or withdrawer != reading.account:
        raise UnknownCall("the withdrawal is somebody else's")
    root = reading.ask(reading.call.to, _ROOT, withdrawal)
    if not reading.ask(reading.call.to, _WAITS, root):
        raise UnknownCall("no such withdrawal waits")
    if len(tokens) != len(strategies):
        raise UnknownCall("the tokens are not those of the strategies")
    _, shares = reading.chain.call(reading.call.to, _QUEUED, root)
    for strategy, token, raw in zip(strategies, tokens, shares, strict=True):
        if _token(reading, strategy) != token:
            raise UnknownCall(f"{strategy} does not give {token}")
        worth = int(reading.ask(strategy, _WORTH, raw))
        reading.change("request", token, -worth, "0x" + bytes(root).hex(), is_exact=False)
        if as_tokens:
            reading.receive(token, worth - _ROUNDING)
        else:
            reading.change("restake", token, worth - _ROUNDING, strategy, is_exact=False)


def _token(reading: Reading, strategy: str) -> str:
    if strategy not in reading.at.values():
        raise UnknownCall(f"{strategy} is no strategy of EigenLayer that is known")
    return str(reading.ask(strategy, _UNDERLYING))


EFFECTS: Final = CallTable(
    "eigenlayer",
    deployments,
    {
        ("deposits", "function depositIntoStrategy(address,address,uint256)"): _deposit,
        ("delegation", "function delegateTo(address,(bytes,uint256),bytes32)"): _delegate,
        ("delegation", "function redelegate(address,(bytes,uint256),bytes32)"): _redelegate,
        ("delegation", "function undelegate(address)"): _undelegate,
        ("delegation", "function queueWithdrawals((address[],uint256[],address)[])"): _queue,
        ("delegation", f"function completeQueuedWithdrawal({_WITHDRAWAL},address[],bool)"): _complete,
    },
)
