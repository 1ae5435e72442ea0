"""Vaults that are entered and left by request (ERC-7540): what is asked for, what waits, and what can be claimed.

A deposit is asked for and its assets leave at once; whoever runs the vault settles it at a price that nobody knows
before, and then its shares are claimed. Leaving is the same the other way round. Until it settles, assets that were
asked in count as what they are, and shares that were asked back at what they stand for now; what was settled counts at
what it gives. Whatever ends a request (a claim, a withdrawn request, the vault's own people who push it out) gives to
the controller, which is the account; so a request that is gone has arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tools_app.chain.abi import decode_log, encode_call
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import BPS, format_units
from tools_app.standards import erc20
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.erc4626 import (
    ASKED,
    MAX_REDEEM,
    MOST_JUMP_BPS,
    REDEEM,
    TO_ASSETS,
    SharesMissing,
    Vault,
    VaultClosed,
    VaultFamily,
)
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    WHEN_REPAID,
    Leg,
    Locked,
    Position,
    PositionChange,
    PositionRef,
    PositionsUnreadable,
    Reads,
    drive,
    side_by_side,
)
from tools_app.toolkit.views import LogEntry, TokenMeta

ASK_IN: Final = "function requestDeposit(uint256 assets, address controller, address owner) returns (uint256 requestId)"
ASK_OUT: Final = "function requestRedeem(uint256 shares, address controller, address owner) returns (uint256 requestId)"
CLAIM_IN: Final = "function deposit(uint256 assets, address receiver, address controller) returns (uint256 shares)"
TAKE_BACK: Final = "function cancelRequestDeposit()"
"""Lagoon's own: the standard has no way to take a request back."""
MAX_MINT: Final = "function maxMint(address controller) view returns (uint256 shares)"
MAX_WITHDRAW: Final = "function maxWithdraw(address controller) view returns (uint256 assets)"
PAUSED: Final = "function paused() view returns (bool)"
ASKED_IN_EVENT: Final = (
    "event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender,"
    " uint256 assets)"
)
ASKED_OUT_EVENT: Final = (
    "event RedeemRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender,"
    " uint256 shares)"
)
IN: Final = "deposit"
OUT: Final = "withdrawal"


class ClaimFirst(GolemError):
    """What an earlier request brought has to be claimed before another is asked for: `data.request` says of which."""

    code = "VAULT_CLAIM_FIRST"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "An earlier request can be claimed, and is claimed first"


class NothingToClaim(GolemError):
    """The account has no such request, or the vault has not settled it: `data.pending` waits."""

    code = "VAULT_NOTHING_TO_CLAIM"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    cleared_by = "the vault settles the request, which request:ready tells"
    title = "There is nothing to claim at the vault"


@dataclass(frozen=True, slots=True)
class Asked:
    """What an account asked of a vault. Assets: `waits_in`, `ready_in`, `ready_in_worth` (of the `ready_shares` that
    claiming brings), `waits_out_worth` and `ready_out_assets`. Shares: `waits_out` and `ready_out`.
    """

    waits_in: int = 0
    ready_in: int = 0
    ready_shares: int = 0
    ready_in_worth: int = 0
    waits_out: int = 0
    waits_out_worth: int = 0
    ready_out: int = 0
    ready_out_assets: int = 0
    is_paused: bool = False


def request_ref(family: VaultFamily, chain_id: int, vault: Vault, way: str) -> PositionRef:
    """Names what an account asked of a vault, one a way: the standard tells the sum of all requests."""
    return PositionRef(family.protocol, REQUEST_KIND, chain_id, f"{way}-{vault.address}")


def ask_requests(vault: Vault, account: str) -> Reads[Asked]:
    """One batch for who asked for nothing, up to three for who did. Raises PositionsUnreadable."""
    outcomes = yield [ReadCall(vault.address, each, (0, account)) for each in ASKED]
    waits_in, ready_in, waits_out, ready_out = (_answer(each, vault, "what was asked of it") for each in outcomes)
    if not any((waits_in, ready_in, waits_out, ready_out)):
        return Asked()
    paused, shares, assets, waits_worth, ready_worth = yield [
        ReadCall(vault.address, PAUSED),
        ReadCall(vault.address, MAX_MINT, (account,)),
        ReadCall(vault.address, MAX_WITHDRAW, (account,)),
        ReadCall(vault.address, TO_ASSETS, (waits_out,)),
        ReadCall(vault.address, TO_ASSETS, (ready_out,)),
    ]
    ready_shares = _answer(shares, vault, "what can be claimed") if ready_in else 0
    # A vault that is paused lets nothing be claimed and tells nothing of it: it counts as it did before it settled.
    ready_in_worth = ready_in
    if ready_shares:
        (worth,) = yield [ReadCall(vault.address, TO_ASSETS, (ready_shares,))]
        ready_in_worth = _answer(worth, vault, "what its shares are worth")
    ready_assets = _answer(assets, vault, "what can be claimed") if ready_out else 0
    return Asked(
        waits_in=waits_in,
        ready_in=ready_in,
        ready_shares=ready_shares,
        ready_in_worth=ready_in_worth,
        waits_out=waits_out,
        waits_out_worth=_answer(waits_worth, vault, "what its shares are worth"),
        ready_out=ready_out,
        ready_out_assets=ready_assets or _answer(ready_worth, vault, "what its shares are worth"),
        is_paused=paused.ok and bool(paused.values[0]),
    )


@dataclass(frozen=True, slots=True)
class RequestVaults:
    """Requests at the vaults by request of one protocol: positions, plans, and what calls do."""

    family: VaultFamily

    def tell(
        self, chain_id: int, vault: Vault, asked: Asked, hints: Sequence[PositionRef] = ()
    ) -> tuple[Position, ...]:
        """What is under way; of `hints` also what has arrived."""
        found = []
        for way, waits, ready, raw in (
            (IN, asked.waits_in, asked.ready_in_worth, asked.ready_in),
            (OUT, asked.waits_out_worth, asked.ready_out_assets, asked.ready_out),
        ):
            ref = request_ref(self.family, chain_id, vault, way)
            label = f"{way.capitalize()} asked for at {vault.label}"
            total = waits + ready
            if total:
                legs = (Leg(vault.asset, waits, free_at=WHEN_REPAID) if waits else None, Leg(vault.asset, ready))
                facts = {
                    "vault": vault.address,
                    "asset": vault.asset,
                    "way": way,
                    "pending": str(waits),
                    "claimable": str(raw),
                    "is_paused": asked.is_paused,
                }
                locked = (Locked(vault.asset, total, "paused"),) if asked.is_paused else ()
                kept = tuple(each for each in legs if each is not None and each.raw)
                found.append(Position(ref, label, kept, facts=facts, locked=locked))
            elif ref in hints:
                found.append(Position(ref, label, (), is_settled=True))
        return tuple(found)

    def born(
        self, chain_id: int, logs: Sequence[LogEntry], account: str, vaults: Sequence[Vault]
    ) -> tuple[PositionRef, ...]:
        """The requests that logs say are now the account's, whoever made them."""
        known = {vault.address: vault for vault in vaults if vault.by_request}
        found: dict[PositionRef, None] = {}
        for log in logs:
            for event, way in ((ASKED_IN_EVENT, IN), (ASKED_OUT_EVENT, OUT)):
                told = decode_log(event, log) if log.address in known else None
                if told is not None and told["controller"] == account:
                    found[request_ref(self.family, chain_id, known[log.address], way)] = None
        return tuple(found)

    def plan_ask_in(self, reader: ChainReader, account: str, vault: Vault, assets: int) -> TxPlan:
        """Ask for a deposit. Raises ClaimFirst, VaultClosed, InsufficientBalance."""
        asked = _look(reader, account, vault)
        if asked.ready_in:
            raise _claim_first(IN)
        token = reader.token(vault.asset)
        draft = PlanDraft(reader.chain_id, account)
        draft.pay(reader, token, assets, to=vault.address)
        shown = _shown(assets, token)
        label = f"Ask {vault.label} to take {shown}"
        draft.call(Call(vault.address, encode_call(ASK_IN, assets, account, account), 0, label))
        draft.changes.append(self._change(reader, vault, IN, assets, assets))
        return draft.finish(
            action_class=ActionClass.INCREASE_POSITION if asked.waits_in else ActionClass.NEW_POSITION,
            details=self._details(reader, vault, IN, assets, shown),
        )

    def gives_at_once(self, reader: ChainReader, account: str, vault: Vault, shares: int | None) -> bool:
        """Whether a vault that was closed for good gives so many shares' worth back without being asked."""
        held, redeemable, ready = reader.call_many(
            [
                erc20.balance_call(vault.address, account),
                ReadCall(vault.address, MAX_REDEEM, (account,)),
                ReadCall(vault.address, ASKED[3], (0, account)),
            ]
        )
        owned = _answer(held, vault, "shares")
        wanted, is_whole = owned if shares is None else shares, ready.ok and not ready.values[0]
        return is_whole and redeemable.ok and 0 < wanted <= min(owned, int(redeemable.values[0]))

    def plan_ask_out(self, reader: ChainReader, account: str, vault: Vault, shares: int | None) -> TxPlan:
        """Ask for shares to be redeemed; None is all that are held. Raises ClaimFirst, SharesMissing, VaultClosed."""
        asked = _look(reader, account, vault)
        if asked.ready_out:
            raise _claim_first(OUT)
        (held,) = reader.call_many([erc20.balance_call(vault.address, account)])
        owned = _answer(held, vault, "shares")
        given = owned if shares is None else shares
        if asked.ready_in and (not owned or given > owned):
            raise _claim_first(IN)
        if not owned or given > owned:
            raise SharesMissing(
                f"the account holds {owned} shares of {vault.label}; {asked.waits_out} were asked back already",
                available=str(owned),
                pending=str(asked.waits_out),
            )
        before, rest, worth = (
            _answer(outcome, vault, "what its shares are worth")
            for outcome in reader.call_many(
                [
                    ReadCall(vault.address, TO_ASSETS, (owned,)),
                    ReadCall(vault.address, TO_ASSETS, (owned - given,)),
                    ReadCall(vault.address, TO_ASSETS, (asked.waits_out + given,)),
                ]
            )
        )
        token, gone, more = reader.token(vault.asset), before - rest, worth - asked.waits_out_worth
        shown, slack = _shown(more, token), more * MOST_JUMP_BPS // BPS + 2
        draft = PlanDraft(reader.chain_id, account)
        label = f"Ask {vault.label} for shares back, now worth {shown}"
        draft.call(Call(vault.address, encode_call(ASK_OUT, given, account, account), 0, label))
        draft.changes += [
            self._leave(reader, vault, -gone, -gone - slack),
            self._change(reader, vault, OUT, more, more - slack),
        ]
        return draft.finish(
            action_class=ActionClass.DECREASE_POSITION,
            details={**self._details(reader, vault, OUT, more, shown), "shares": str(given)},
        )

    def plan_claim_in(self, reader: ChainReader, account: str, vault: Vault) -> TxPlan:
        """Claim the shares of a deposit that was settled. Raises NothingToClaim, VaultClosed."""
        asked = _look(reader, account, vault)
        if not asked.ready_in:
            raise _nothing(IN, asked.waits_in)
        (held,) = reader.call_many([erc20.balance_call(vault.address, account)])
        owned = _answer(held, vault, "shares")
        before, after = (
            _answer(outcome, vault, "what its shares are worth")
            for outcome in reader.call_many(
                [ReadCall(vault.address, TO_ASSETS, (each,)) for each in (owned, owned + asked.ready_shares)]
            )
        )
        token, gained, gone = reader.token(vault.asset), after - before, asked.ready_in_worth
        shown, slack = _shown(gone, token), gone * MOST_JUMP_BPS // BPS + 2
        draft = PlanDraft(reader.chain_id, account)
        label = f"Claim shares of {vault.label}, worth {shown}"
        draft.call(Call(vault.address, encode_call(CLAIM_IN, asked.ready_in, account, account), 0, label))
        draft.changes += [
            self._change(reader, vault, IN, -gone, -gone - slack),
            self._leave(reader, vault, gained, gained - slack),
        ]
        return draft.finish(
            action_class=ActionClass.REBALANCE, details=self._details(reader, vault, IN, asked.ready_in, shown)
        )

    def plan_claim_out(self, reader: ChainReader, account: str, vault: Vault) -> TxPlan:
        """Claim the assets of shares that were settled. Raises NothingToClaim, VaultClosed."""
        asked = _look(reader, account, vault)
        if not asked.ready_out:
            raise _nothing(OUT, asked.waits_out)
        token, assets = reader.token(vault.asset), asked.ready_out_assets
        shown = _shown(assets, token)
        draft = PlanDraft(reader.chain_id, account)
        label = f"Claim {shown} of {vault.label}"
        draft.call(Call(vault.address, encode_call(REDEEM, asked.ready_out, account, account), 0, label))
        draft.receive(token, assets)
        draft.changes.append(self._change(reader, vault, OUT, -assets, -assets))
        return draft.finish(
            action_class=ActionClass.DECREASE_POSITION if asked.waits_out else ActionClass.CLOSE_POSITION,
            details={**self._details(reader, vault, OUT, assets, shown), "shares": str(asked.ready_out)},
        )

    def plan_take_back(self, reader: ChainReader, account: str, vault: Vault) -> TxPlan:
        """Take a deposit back that was asked for and is not settled. Raises NothingToClaim, ClaimFirst, VaultClosed."""
        asked = _look(reader, account, vault)
        if asked.ready_in:
            raise _claim_first(IN)
        if not asked.waits_in:
            raise NothingToClaim(f"no deposit of the account waits at {vault.label}", pending="0")
        token, assets = reader.token(vault.asset), asked.waits_in
        shown = _shown(assets, token)
        draft = PlanDraft(reader.chain_id, account)
        draft.call(Call(vault.address, encode_call(TAKE_BACK), 0, f"Take back {shown} asked for at {vault.label}"))
        draft.receive(token, assets)
        draft.changes.append(self._change(reader, vault, IN, -assets, -assets))
        return draft.finish(
            action_class=ActionClass.CLOSE_POSITION, details=self._details(reader, vault, IN, assets, shown)
        )

    def read_effects(self, call: Call, vault: Vault, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what a call to a vault by request does. Raises UnknownCall for any byte that is not accounted for."""
        if call.value:
            raise UnknownCall("a vault is sent coin, which no tool does")
        asked = drive(ask_requests(vault, account), chain.call_many)
        if calls(call.data, ASK_IN):
            assets, *whose = read_exactly(call.data, ASK_IN)
            _check_own(whose, account)
            into.spends[vault.asset] += assets
            self._moved(chain, vault, IN, assets, into)
        elif calls(call.data, ASK_OUT):
            shares, *whose = read_exactly(call.data, ASK_OUT)
            _check_own(whose, account)
            worth = int(chain.call(vault.address, TO_ASSETS, shares)[0])
            self._shares_moved(chain, vault, -worth, into)
            self._moved(chain, vault, OUT, worth, into, is_exact=False)
        elif calls(call.data, CLAIM_IN):
            assets, *whose = read_exactly(call.data, CLAIM_IN)
            _check_own(whose, account)
            _check_whole(assets, asked.ready_in)
            self._moved(chain, vault, IN, -asked.ready_in_worth, into, is_exact=False)
            self._shares_moved(chain, vault, asked.ready_in_worth, into)
        elif calls(call.data, TAKE_BACK):
            read_exactly(call.data, TAKE_BACK)
            _check_whole(asked.waits_in, asked.waits_in)
            into.receives[vault.asset] += asked.waits_in
            into.recipients.append(account)
            self._moved(chain, vault, IN, -asked.waits_in, into)
        elif calls(call.data, REDEEM) and asked.ready_out:
            shares, *whose = read_exactly(call.data, REDEEM)
            _check_own(whose, account)
            _check_whole(shares, asked.ready_out)
            into.receives[vault.asset] += asked.ready_out_assets
            into.recipients.append(account)
            self._moved(chain, vault, OUT, -asked.ready_out_assets, into)
        elif calls(call.data, REDEEM):
            # A vault that was closed for good gives back at once.
            self.family.read_effects(call, vault, account, chain, into)
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of a vault by request is not known")

    def _moved(
        self, chain: ChainReader, vault: Vault, way: str, raw: int, into: Effects, *, is_exact: bool = True
    ) -> None:
        ref = request_ref(self.family, chain.chain_id, vault, way)
        into.changes.append(
            ChangeRead(self.family.protocol, REQUEST_KIND, vault.asset, raw, ref, is_exact=is_exact, rounding=2)
        )

    def _shares_moved(self, chain: ChainReader, vault: Vault, raw: int, into: Effects) -> None:
        ref = self.family.ref(chain.chain_id, vault.address)
        into.changes.append(
            ChangeRead(self.family.protocol, self.family.kind, vault.asset, raw, ref, is_exact=False, rounding=2)
        )

    def _change(self, reader: ChainReader, vault: Vault, way: str, expected: int, bound: int) -> PositionChange:
        ref = request_ref(self.family, reader.chain_id, vault, way)
        return PositionChange(self.family.protocol, REQUEST_KIND, vault.asset, expected, bound, ref=ref)

    def _leave(self, reader: ChainReader, vault: Vault, expected: int, bound: int) -> PositionChange:
        ref = self.family.ref(reader.chain_id, vault.address)
        return PositionChange(self.family.protocol, self.family.kind, vault.asset, expected, bound, ref=ref)

    def _details(self, reader: ChainReader, vault: Vault, way: str, raw: int, shown: str) -> dict[str, object]:
        token = reader.token(vault.asset)
        return {
            "vault": vault.address,
            "asset": vault.asset,
            "symbol": token.symbol,
            "decimals": token.decimals,
            "request_id": request_ref(self.family, reader.chain_id, vault, way).id,
            "amount": str(raw),
            "amount_units": shown,
            "fee": "0",
        }


@dataclass(frozen=True, slots=True)
class VaultsWithRequests:
    """Positions in the vaults that a protocol knows by its data, and requests at those that are asked."""

    family: VaultFamily
    known: Callable[[int], Sequence[Vault]]

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Shares and requests, side by side. Raises PositionsUnreadable."""
        vaults = self.known(chain_id)
        if not vaults:
            return ()
        asking = [vault for vault in vaults if vault.by_request]
        held: list[Position] = []
        shares, *requests = yield from side_by_side(
            [
                _listed(self.family.list_positions(chain_id, account, vaults)),
                *(_asked(ask_requests(vault, account)) for vault in asking),
            ]
        )
        held += shares.positions
        for vault, told in zip(asking, requests, strict=True):
            ref = self.family.ref(chain_id, vault.address)
            if told.asked.ready_out:
                # What it gives now are the shares that were asked back, and none of those that are held.
                held = [_shut(each) if each.ref == ref else each for each in held]
            held += RequestVaults(self.family).tell(chain_id, vault, told.asked, hints)
        return tuple(held)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The vaults whose shares came to `account`, and the requests that are its."""
        vaults = self.known(chain_id)
        return (
            *self.family.born(chain_id, logs, account, vaults),
            *RequestVaults(self.family).born(chain_id, logs, account, vaults),
        )


# ---- below ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    positions: tuple[Position, ...] = ()
    asked: Asked = Asked()


def _listed(reads: Reads[tuple[Position, ...]]) -> Reads[_Found]:
    return _Found(positions=(yield from reads))


def _asked(reads: Reads[Asked]) -> Reads[_Found]:
    return _Found(asked=(yield from reads))


def _shut(position: Position) -> Position:
    asset, worth = str(position.facts["asset"]), int(position.facts["assets"])
    locked = (Locked(asset, worth, "asked"),) if worth else ()
    return replace(position, facts={**position.facts, "redeemable_shares": "0"}, locked=locked)


def _look(reader: ChainReader, account: str, vault: Vault) -> Asked:
    """What is under way; raises VaultClosed of a vault that is paused."""
    asked = drive(ask_requests(vault, account), reader.call_many)
    (paused,) = reader.call_many([ReadCall(vault.address, PAUSED)])
    if paused.ok and paused.values[0]:
        raise VaultClosed(
            f"{vault.label} is paused: nothing is asked for, claimed or taken back", vault=vault.address, room="0"
        )
    return asked


def _claim_first(way: str) -> ClaimFirst:
    return ClaimFirst(f"the {way} that was asked for earlier can be claimed; claim it first", request=way)


def _nothing(way: str, pending: int) -> NothingToClaim:
    if pending:
        words = f"the {way} that was asked for is not settled yet"
        return NothingToClaim(words, recovery=Recovery.WAIT, pending=str(pending))
    return NothingToClaim(f"no {way} of the account waits at the vault", pending="0")


def _check_own(whose: Sequence[str], account: str) -> None:
    strangers = [each for each in whose if each != account]
    if strangers:
        raise UnknownCall(f"a request would be {strangers[0]}'s")


def _check_whole(raw: int, whole: int) -> None:
    if not raw or raw != whole:
        raise UnknownCall(f"a request is ended whole: there are {whole}, and the call says {raw}")


def _answer(outcome: ReadOutcome, vault: Vault, what: str) -> int:
    if not outcome.ok:
        raise PositionsUnreadable(f"{vault.label} does not tell {what}: {outcome.revert_reason}")
    return int(outcome.values[0])


def _shown(amount: int, token: TokenMeta) -> str:
    return format_units(amount, token.decimals, token.symbol)
