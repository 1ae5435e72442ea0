"""Plans at a vault by request: ask for a deposit or for shares back, claim what was settled, take back what was not."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import BPS, format_units
from tools_app.standards import erc20
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
from tools_app.standards.erc7540 import (
    ASK_IN,
    ASK_OUT,
    CLAIM_IN,
    IN,
    OUT,
    TAKE_BACK,
    VaultRequest,
    ask_requests,
    read_answer,
    request_ref,
)
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import REQUEST_KIND, PositionChange, drive
from tools_app.toolkit.views import TokenMeta


class ClaimFirst(
    GolemError,
    code="VAULT_CLAIM_FIRST",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="An earlier request can be claimed, and is claimed first",
):
    """What an earlier request brought has to be claimed before another is asked for: `data.request` says of which."""


class RequestNotClaimable(
    GolemError,
    code="VAULT_NOTHING_TO_CLAIM",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="There is nothing to claim at the vault",
    cleared_by="the vault settles the request, which request:ready tells",
):
    """The account has no such request, or the vault has not settled it: `data.pending` waits."""


class NotAdmitted(
    GolemError,
    code="VAULT_NOT_ADMITTED",
    status=403,
    recovery=Recovery.GIVE_UP,
    title="The vault does not let this account ask",
):
    """The vault has a list of those who may ask, and the account is not on it; those who run the vault keep it."""


@dataclass(frozen=True, slots=True)
class RequestPlans:
    """What is asked of the vaults by request of one protocol."""

    family: VaultFamily

    def plan_ask_in(self, reader: ChainReader, account: str, vault: Vault, assets: int) -> TxPlan:
        """Ask for a deposit. Raises NotAdmitted, ClaimFirst, VaultClosed, InsufficientBalance."""
        asked = _look(reader, account, vault)
        _check_admitted(asked, vault, Recovery.GIVE_UP)
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
        owned = read_answer(held, vault, "shares")
        wanted, is_whole = owned if shares is None else shares, ready.ok and not ready.values[0]
        return is_whole and redeemable.ok and 0 < wanted <= min(owned, int(redeemable.values[0]))

    def plan_ask_out(self, reader: ChainReader, account: str, vault: Vault, shares: int | None) -> TxPlan:
        """Ask for shares to be redeemed; None is all that are held.

        Raises NotAdmitted, ClaimFirst, SharesMissing, VaultClosed.
        """
        asked = _look(reader, account, vault)
        _check_admitted(asked, vault, Recovery.ASK_OWNER)
        if asked.ready_out:
            raise _claim_first(OUT)
        (held,) = reader.call_many([erc20.balance_call(vault.address, account)])
        owned = read_answer(held, vault, "shares")
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
            read_answer(outcome, vault, "what its shares are worth")
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
            raise _nothing(IN, asked.waits_in, OUT if asked.ready_out else None)
        (held,) = reader.call_many([erc20.balance_call(vault.address, account)])
        owned = read_answer(held, vault, "shares")
        before, after = (
            read_answer(outcome, vault, "what its shares are worth")
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
            raise _nothing(OUT, asked.waits_out, IN if asked.ready_in else None)
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
            raise RequestNotClaimable(f"no deposit of the account waits at {vault.label}", pending="0")
        token, assets = reader.token(vault.asset), asked.waits_in
        shown = _shown(assets, token)
        draft = PlanDraft(reader.chain_id, account)
        draft.call(Call(vault.address, encode_call(TAKE_BACK), 0, f"Take back {shown} asked for at {vault.label}"))
        draft.receive(token, assets)
        draft.changes.append(self._change(reader, vault, IN, -assets, -assets))
        return draft.finish(
            action_class=ActionClass.CLOSE_POSITION, details=self._details(reader, vault, IN, assets, shown)
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


# ---- below ----------------------------------------------------------------------------------------------------------


def _look(reader: ChainReader, account: str, vault: Vault) -> VaultRequest:
    """What is under way; raises VaultClosed of a vault that is paused."""
    asked = drive(ask_requests(vault, account), reader.call_many)
    if asked.is_paused:
        raise VaultClosed(
            f"{vault.label} is paused: nothing is asked for, claimed or taken back", vault=vault.address, room="0"
        )
    return asked


def _check_admitted(asked: VaultRequest, vault: Vault, recovery: Recovery) -> None:
    if asked.is_barred:
        raise NotAdmitted(
            f"{vault.label} takes requests of those alone who are on its list, and this account is not; what was asked"
            " for before can be claimed",
            recovery=recovery,
            vault=vault.address,
        )


def _claim_first(way: str) -> ClaimFirst:
    return ClaimFirst(f"the {way} that was asked for earlier can be claimed; claim it first", request=way)


def _nothing(way: str, pending: int, other: str | None) -> RequestNotClaimable:
    """`other` is the way that can be claimed in its stead."""
    if pending:
        words = f"the {way} that was asked for is not settled yet"
        return RequestNotClaimable(words, recovery=Recovery.WAIT, pending=str(pending))
    fill = {} if other is None else {"request": {"one_of": [other]}}
    return RequestNotClaimable(f"no {way} of the account waits at the vault", pending="0", fill=fill)


def _shown(amount: int, token: TokenMeta) -> str:
    return format_units(amount, token.decimals, token.symbol)
