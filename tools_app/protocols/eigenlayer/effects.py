"""What calls to EigenLayer do, read from their bytes; written from the contracts' interfaces, not from the tools.

A withdrawal is accounted for only if the account is its staker and its withdrawer, and if it waits at the contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools_app.protocols.eigenlayer.addresses import deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef

_DEPOSIT: Final = "function depositIntoStrategy(address,address,uint256)"
_DELEGATE: Final = "function delegateTo(address,(bytes,uint256),bytes32)"
_UNDELEGATE: Final = "function undelegate(address)"
_REDELEGATE: Final = "function redelegate(address,(bytes,uint256),bytes32)"
_DEPOSITED: Final = "function getDepositedShares(address) view returns (address[],uint256[])"
_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_QUEUE: Final = "function queueWithdrawals((address[],uint256[],address)[])"
_COMPLETE: Final = (
    "function completeQueuedWithdrawal((address,address,address,uint256,uint32,address[],uint256[]),address[],bool)"
)
_UNDERLYING: Final = "function underlyingToken() view returns (address)"
_WORTH: Final = "function sharesToUnderlyingView(uint256) view returns (uint256)"
_LEFT: Final = "function getWithdrawableShares(address,address[]) view returns (uint256[],uint256[])"
_ROOT: Final = (
    "function calculateWithdrawalRoot((address,address,address,uint256,uint32,address[],uint256[]))"
    " pure returns (bytes32)"
)
_WAITS: Final = "function pendingWithdrawals(bytes32) view returns (bool)"
_QUEUED: Final = (
    "function getQueuedWithdrawal(bytes32) view returns"
    " ((address,address,address,uint256,uint32,address[],uint256[]),uint256[])"
)
_ROUNDING: Final = 2


class RestakedEffects:
    """Reads deposits, delegations and their ends, which queue everything, and the queue's two ends."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        at = deployments(chain.chain_id) or {}
        if call.value:
            raise UnknownCall("EigenLayer's managers take no coin")
        if call.to == at.get("deposits") and calls(call.data, _DEPOSIT):
            _deposit(at, read_exactly(call.data, _DEPOSIT), chain, into)
        elif call.to == at.get("delegation") and calls(call.data, _DELEGATE):
            _delegate(call.to, read_exactly(call.data, _DELEGATE), account, into)
        elif call.to == at.get("delegation") and calls(call.data, _REDELEGATE):
            _queue_all(call.to, at, account, chain, into)
            _delegate(call.to, read_exactly(call.data, _REDELEGATE), account, into)
        elif call.to == at.get("delegation") and calls(call.data, _UNDELEGATE):
            (staker,) = read_exactly(call.data, _UNDELEGATE)
            if staker != account:
                raise UnknownCall(f"{staker} would be put out, who is somebody else")
            _queue_all(call.to, at, account, chain, into)
            into.statements.append(Statement(call.to, account, "operator", _NOBODY))
        elif call.to == at.get("delegation") and calls(call.data, _QUEUE):
            (entries,) = read_exactly(call.data, _QUEUE)
            for entry in entries:
                _queue(call.to, at, entry, account, chain, into)
        elif call.to == at.get("delegation") and calls(call.data, _COMPLETE):
            _complete(call.to, at, read_exactly(call.data, _COMPLETE), account, chain, into)
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _deposit(at: Mapping[str, str], args: tuple[Any, ...], chain: ChainReader, into: Effects) -> None:
    strategy, token, amount = args
    if _token(at, strategy, chain) != token:
        raise UnknownCall(f"{strategy} does not take {token}")
    into.spends[token] += amount
    ref = PositionRef("eigenlayer", "restake", chain.chain_id, strategy)
    into.changes.append(ChangeRead("eigenlayer", "restake", token, amount - _ROUNDING, ref, is_exact=False))


def _delegate(delegation: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    operator, (signature, expiry), salt = args
    if signature or expiry or any(salt):
        raise UnknownCall("an approver's signature is handed along, which no tool does")
    into.statements.append(Statement(delegation, account, "operator", operator))


def _queue_all(delegation: str, at: Mapping[str, str], account: str, chain: ChainReader, into: Effects) -> None:
    """Whoever leaves an operator has every deposit queued. A strategy that is unknown has no price and no position."""
    strategies, shares = chain.call(delegation, _DEPOSITED, account)
    for strategy, raw in zip(strategies, shares, strict=True):
        if strategy in at.values() and raw:
            _queue(delegation, at, ([strategy], [raw], account), account, chain, into)


def _queue(
    delegation: str, at: Mapping[str, str], entry: Sequence[Any], account: str, chain: ChainReader, into: Effects
) -> None:
    strategies, shares, withdrawer = entry
    if withdrawer != account or not strategies or len(strategies) != len(shares):
        raise UnknownCall("the withdrawal is not the account's own, or its lists differ in length")
    if len(set(strategies)) != len(strategies):
        raise UnknownCall("a strategy is named twice")
    left, deposited = chain.call(delegation, _LEFT, account, list(strategies))
    for strategy, raw, gives, held in zip(strategies, shares, left, deposited, strict=True):
        token = _token(at, strategy, chain)
        if not raw or raw > held:
            raise UnknownCall(f"{raw} shares of {strategy} are not there")
        worth = int(chain.call(strategy, _WORTH, int(gives) * raw // int(held))[0])
        ref = PositionRef("eigenlayer", "restake", chain.chain_id, strategy)
        into.changes.append(ChangeRead("eigenlayer", "restake", token, -worth - _ROUNDING, ref, is_exact=False))
        into.changes.append(ChangeRead("eigenlayer", "request", token, worth - _ROUNDING, is_exact=False))


def _complete(
    delegation: str, at: Mapping[str, str], args: tuple[Any, ...], account: str, chain: ChainReader, into: Effects
) -> None:
    withdrawal, tokens, as_tokens = args
    staker, _, withdrawer, _, _, strategies, _ = withdrawal
    if staker != account or withdrawer != account:
        raise UnknownCall("the withdrawal is somebody else's")
    root = chain.call(delegation, _ROOT, withdrawal)[0]
    if not chain.call(delegation, _WAITS, root)[0]:
        raise UnknownCall("no such withdrawal waits")
    if len(tokens) != len(strategies):
        raise UnknownCall("the tokens are not those of the strategies")
    _, shares = chain.call(delegation, _QUEUED, root)
    waits = PositionRef("eigenlayer", "request", chain.chain_id, "0x" + bytes(root).hex())
    for strategy, token, raw in zip(strategies, tokens, shares, strict=True):
        if _token(at, strategy, chain) != token:
            raise UnknownCall(f"{strategy} does not give {token}")
        worth = int(chain.call(strategy, _WORTH, raw)[0])
        into.changes.append(ChangeRead("eigenlayer", "request", token, -worth, waits, is_exact=False))
        if as_tokens:
            into.receives[token] += worth - _ROUNDING
        else:
            ref = PositionRef("eigenlayer", "restake", chain.chain_id, strategy)
            into.changes.append(ChangeRead("eigenlayer", "restake", token, worth - _ROUNDING, ref, is_exact=False))


def _token(at: Mapping[str, str], strategy: str, chain: ChainReader) -> str:
    if strategy not in at.values():
        raise UnknownCall(f"{strategy} is no strategy of EigenLayer that is known")
    return str(chain.call(strategy, _UNDERLYING)[0])
