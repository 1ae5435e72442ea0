"""What calls to Morpho Blue do, read back from their bytes.

Written from the contract's interface alone. Every call must act for the account itself, carry no data for a callback
and no byte that is not accounted for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import encode_args
from tools_app.chain.node_errors import CallReverted, ContractOutputUnexpected
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.loan_callback import is_announced
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, RightRead, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_PROTOCOL: Final = "morpho"
_KIND: Final = "market"
_PARAMS: Final = "(address,address,address,address,uint256)"
_SUPPLY: Final = f"function supply({_PARAMS},uint256,uint256,address,bytes)"
_WITHDRAW: Final = f"function withdraw({_PARAMS},uint256,uint256,address,address)"
_BORROW: Final = f"function borrow({_PARAMS},uint256,uint256,address,address)"
_REPAY: Final = f"function repay({_PARAMS},uint256,uint256,address,bytes)"
_PLEDGE: Final = f"function supplyCollateral({_PARAMS},uint256,address,bytes)"
_RELEASE: Final = f"function withdrawCollateral({_PARAMS},uint256,address,address)"
_LIQUIDATE: Final = f"function liquidate({_PARAMS},address,uint256,uint256,bytes)"
_FLASH: Final = "function flashLoan(address,uint256,bytes)"
_AUTHORIZE: Final = "function setAuthorization(address,bool)"
_APPROVE: Final = "function approve(address,uint256)"
_ALLOWANCE: Final = "function allowance(address,address) view returns (uint256)"
_TOTALS: Final = "function market(bytes32) view returns (uint128,uint128,uint128,uint128,uint128,uint128)"
_POSITION: Final = "function position(bytes32,address) view returns (uint256,uint128,uint128)"
_LENT, _OWED = 0, 1
_VIRTUAL_SHARES: Final = 1_000_000
_EVERYTHING: Final = -1

Read = Callable[["_Reading", tuple[Any, ...]], None]


class MorphoEffects:
    """Reads calls to the one contract."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does for `account`. Raises UnknownCall, and what the chain raises."""
        if call.value:
            raise UnknownCall("Morpho is sent coin, which it does not take")
        for signature, read in _READERS.items():
            if calls(call.data, signature):
                arguments = read_exactly(call.data, signature)
                read(_Reading(call, earlier, account, chain, into), arguments)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of Morpho is not known")


class _Reading:
    """One call, and where its effects go."""

    def __init__(self, call: Call, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        self.call, self.earlier, self.account, self.chain, self.into = call, earlier, account, chain, into

    def enter(self, market: tuple[Any, ...], *, on_behalf: str | None = None, data: bytes = b"") -> PositionRef:
        """The position in the market of these parameters; acting for another, or with a callback, is not known."""
        if on_behalf is not None and on_behalf != self.account:
            raise UnknownCall(f"Morpho would act on behalf of {on_behalf}")
        if data:
            raise UnknownCall("Morpho would call the account back with data")
        return PositionRef(_PROTOCOL, _KIND, self.chain.chain_id, _id_of(market))

    def change(self, ref: PositionRef, token: str, raw: int, *, is_exact: bool = True) -> None:
        self.into.changes.append(ChangeRead(_PROTOCOL, _KIND, token, raw, ref, is_exact))

    def most_taken(self, token: str) -> int:
        """What Morpho may take of a token when this call runs: what the plan approved last, or what stands."""
        for call in reversed(self.earlier):
            if call.to == token and calls(call.data, _APPROVE):
                spender, amount = read_exactly(call.data, _APPROVE)
                if spender == self.call.to:
                    return int(amount)
        return int(self._ask(token, _ALLOWANCE, self.account, self.call.to)[0])

    def check_all(self, ref: PositionRef, shares: int, place: int) -> None:
        """Shares are said only to leave nothing: they must be all that the account has of them."""
        held = self._ask(self.call.to, _POSITION, bytes.fromhex(ref.id[2:]), self.account)[place]
        if shares != held:
            raise UnknownCall(f"{shares} shares are said, and {held} are all there are")

    def check_owed(self, ref: PositionRef, shares: int) -> None:
        """Shares repaid are never more than are owed, together with those of the plan's earlier repayments."""
        for call in self.earlier:
            if call.to == self.call.to and calls(call.data, _REPAY):
                market, _, before, *_ = read_exactly(call.data, _REPAY)
                shares += before if _id_of(market) == ref.id else 0
        held = self._ask(self.call.to, _POSITION, bytes.fromhex(ref.id[2:]), self.account)[_OWED]
        if shares > held:
            raise UnknownCall(f"{shares} shares are said, and {held} are all that are owed")

    def least_assets(self, ref: PositionRef, shares: int) -> int:
        """What shares of what is lent give at least: interest since the market was last touched only adds."""
        assets, supply, *_ = self._ask(self.call.to, _TOTALS, bytes.fromhex(ref.id[2:]))
        return int(shares * (assets + 1) // (supply + _VIRTUAL_SHARES))

    def _ask(self, to: str, signature: str, *arguments: Any) -> tuple[Any, ...]:
        try:
            return self.chain.call(to, signature, *arguments)
        except (CallReverted, ContractOutputUnexpected) as error:
            raise UnknownCall(f"{to} does not tell what the call would move: {error.detail}") from error


def _flash(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    """Lent and taken back in one call, for nothing. What the account does with data is read where it was announced;
    otherwise its own code would do what nobody can tell.
    """
    token, assets, data = arguments
    if data and not is_announced(data, lender=reading.call.to, earlier=reading.earlier):
        raise UnknownCall("Morpho would call the account back with data")
    reading.into.lent[token] += assets
    reading.into.recipients.append(reading.account)


def _supply(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, assets, shares, on_behalf, data = arguments
    ref = reading.enter(market, on_behalf=on_behalf, data=data)
    if shares or not assets:
        raise UnknownCall("how much is lent is said in shares")
    reading.into.spends[market[0]] += assets
    reading.change(ref, market[0], assets)


def _withdraw(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, assets, shares, on_behalf, receiver = arguments
    ref = reading.enter(market, on_behalf=on_behalf)
    _one_of(assets, shares)
    if shares:
        reading.check_all(ref, shares, _LENT)
    least = assets or reading.least_assets(ref, shares)
    reading.into.receives[market[0]] += least
    reading.into.recipients.append(receiver)
    if shares:
        reading.into.open_minimums.add(market[0])
    reading.change(ref, market[0], -least, is_exact=bool(assets))


def _borrow(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, assets, shares, on_behalf, receiver = arguments
    ref = reading.enter(market, on_behalf=on_behalf)
    if shares or not assets:
        raise UnknownCall("how much is borrowed is said in shares")
    reading.into.receives[market[0]] += assets
    reading.into.recipients.append(receiver)
    reading.change(ref, market[0], -assets)


def _repay(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, assets, shares, on_behalf, data = arguments
    ref = reading.enter(market, on_behalf=on_behalf, data=data)
    _one_of(assets, shares)
    if shares:
        reading.check_owed(ref, shares)
    most = assets or reading.most_taken(market[0])
    reading.into.spends[market[0]] += most
    reading.change(ref, market[0], most, is_exact=bool(assets))


def _pledge(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, assets, on_behalf, data = arguments
    ref = reading.enter(market, on_behalf=on_behalf, data=data)
    reading.into.spends[market[1]] += assets
    reading.change(ref, market[1], assets)


def _release(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, assets, on_behalf, receiver = arguments
    ref = reading.enter(market, on_behalf=on_behalf)
    reading.into.receives[market[1]] += assets
    reading.into.recipients.append(receiver)
    reading.change(ref, market[1], -assets)


def _liquidate(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    market, borrower, seized, shares, data = arguments
    if borrower == reading.account:
        raise UnknownCall("the account would liquidate itself")
    if shares or not seized:
        raise UnknownCall("how much is liquidated is said in shares")
    reading.enter(market, data=data)
    reading.into.spends[market[0]] += reading.most_taken(market[0])
    reading.into.receives[market[1]] += seized
    reading.into.recipients.append(reading.account)


def _authorize(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    taker, is_given = arguments
    reading.into.rights.append(RightRead(reading.call.to, taker, _EVERYTHING if is_given else 0))


_READERS: Final[Mapping[str, Read]] = {
    _SUPPLY: _supply,
    _WITHDRAW: _withdraw,
    _BORROW: _borrow,
    _REPAY: _repay,
    _PLEDGE: _pledge,
    _RELEASE: _release,
    _LIQUIDATE: _liquidate,
    _AUTHORIZE: _authorize,
    _FLASH: _flash,
}


def _id_of(market: tuple[Any, ...]) -> str:
    return "0x" + keccak(encode_args(("address", "address", "address", "address", "uint256"), market)).hex()


def _one_of(assets: int, shares: int) -> None:
    if bool(assets) == bool(shares):
        raise UnknownCall("exactly one of assets and shares must be said")
