"""`safety_audit_approvals` and `safety_batch_revoke_approvals`: who may take what, and taking that back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.portfolio.given_allowances import Given, find_given_allowances
from tools_app.standards import erc20, erc721
from tools_app.standards.permit2 import PERMIT2
from tools_app.subsystems.safety.family import board, choose_account
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Requirement, RiskLayer
from tools_app.toolkit.params import Address, Flag, Token
from tools_app.toolkit.plan import AllowanceLeft, Call, PlanOutcome, TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

MOST_AT_ONCE = 10


class NoSuchApproval(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no such approval to take back"
):
    """Nothing of what should be taken back stands. `data.approvals` are the pairs that were asked for."""


@with_config(ConfigDict(extra="forbid"))
class ApprovalToRevoke(TypedDict):
    """One approval to take back: a token or a collection by its address, and who may take of it now."""

    token: Token
    spender: Address


ApprovalsToRevoke = Annotated[
    list[ApprovalToRevoke],
    Field(
        min_length=1,
        max_length=MOST_AT_ONCE,
        description="Approvals to take back, at most 10, as safety_audit_approvals lists them under `revoke`.",
    ),
]


@dataclass(frozen=True, slots=True)
class RevokeWith:
    """What safety_batch_revoke_approvals takes for it."""

    token: str
    spender: str


@dataclass(frozen=True, slots=True)
class ApprovalFound:
    """One approval as it stands. `risk_level`: Safe (a known contract, a limited amount), Elevated (known, unlimited),
    Risky (nobody here knows the spender). `through` is permit2 or null; `allowance` is null for items of a collection:
    for the one of `token_id`, or for every one where that is null too. `revoke` is null for a single item, whose
    approval ends when it moves. `last_used` is null: no log of a token says by which approval it was moved.
    """

    token: str
    token_symbol: str | None
    spender: str
    spender_label: str | None
    through: str | None
    token_id: str | None
    allowance: TokenAmount | None
    is_unlimited: bool
    expires_at: int | None
    risk_level: str
    last_used: str | None
    revoke: RevokeWith | None


@dataclass(frozen=True, slots=True)
class ApprovalAudit:
    """Every approval that logs lead to, the riskiest first. `not_searched` names what nobody looked at."""

    account: str
    chain_id: int
    total_approvals: int
    risky_approvals: int
    approvals: tuple[ApprovalFound, ...]
    revoked: tuple[RevokeWith, ...]
    not_searched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevokeReport:
    """What a committed revocation took back. A plan runs whole or not at all, so `failed` is empty in a report."""

    revoked_count: int
    failed: tuple[RevokeWith, ...]


@board.read(
    query="approvals",
    requires=(Requirement.WALLET,),
    snippet=(
        "approvals: who may take which tokens from the wallet now, also through Permit2, for whole collections and for"
        " single items, the riskiest first, each with what takes it back."
    ),
    guidelines=("Take back what is Risky with batch_revoke_approvals; an approval costs nothing until it is used.",),
)
def safety_audit_approvals(ctx: ReadContext, include_revoked: Flag = False) -> ApprovalAudit:
    """List who may take tokens from the golem's wallet, as it stands on the chain now.

    Use after work with a new protocol, and before trusting an old wallet. Logs lead to what to ask; what counts is what
    each token answers. With `include_revoked` what was given and is over is listed too.
    Does not find what a token gave without a log, and does not judge a contract's code.
    """
    account = choose_account(ctx, None)
    reader = ctx.begin("Searching logs")
    found = find_given_allowances(chain=reader, account=account)
    ctx.step("Asking what still stands")
    rows = [_describe(reader, each) for each in found.standing]
    rows.sort(key=lambda row: (("Risky", "Elevated", "Safe").index(row.risk_level), row.token, row.spender))
    return ApprovalAudit(
        account=account,
        chain_id=reader.chain_id,
        total_approvals=len(rows),
        risky_approvals=sum(row.risk_level == "Risky" for row in rows),
        approvals=tuple(rows),
        revoked=tuple(RevokeWith(each.token, each.spender) for each in found.ended) if include_revoked else (),
        not_searched=found.gaps,
    )


def report_revoked(outcome: PlanOutcome) -> RevokeReport:
    """How many were taken back: a call each."""
    return RevokeReport(len(outcome.plan.calls), ())


@board.write(
    risk=RiskLayer.BOUNDED,
    action_class=ActionClass.CLOSE_POSITION,
    report=report_revoked,
    snippet=(
        "batch_revoke_approvals: take back up to ten approvals at once, so that nobody can take those tokens from the"
        " wallet any more; it moves no token."
    ),
    guidelines=(
        "Name each as safety_audit_approvals lists it under revoke; taking back Permit2's own approval ends everything"
        " that was given through Permit2 for that token.",
        "An operator of a collection is taken back where your owner lists its contract and allows arbitrary call data.",
    ),
)
def safety_batch_revoke_approvals(ctx: WriteContext, approvals: ApprovalsToRevoke) -> TxPlan:
    """Take back approvals of tokens and collections, so that their spenders can take nothing of the golem any more.

    Use for what safety_audit_approvals calls Risky, and for what is not needed any longer: allowances of tokens, those
    of Permit2, and operators of collections (ERC-721, ERC-1155). Those that are over already are left out; all others
    go in one plan, which runs whole or not at all. Does not move tokens, and ends no approval of a single item.
    """
    reader = ctx.begin("Reading approvals")
    wanted = dict.fromkeys((_find_asset(reader, each["token"]), each["spender"]) for each in approvals)
    if any(asset.meta is not None and asset.meta.is_native for asset, _ in wanted):
        raise InvalidParams("the chain's coin knows no approvals", fields={"approvals": "name tokens"})
    answers = reader.call_many(
        [
            erc721.operator_call(asset.address, ctx.account, who)
            if asset.meta is None
            else erc20.allowance_call(asset.address, ctx.account, who)
            for asset, who in wanted
        ]
    )
    standing = [
        (asset, spender, answer.values[0])
        for (asset, spender), answer in zip(wanted, answers, strict=True)
        if answer.ok and answer.values[0]
    ]
    if not standing:
        raise NoSuchApproval(
            "none of these approvals stands now",
            approvals=[{"token": asset.address, "spender": spender} for asset, spender in wanted],
        )
    ctx.step("Building the calls")
    return TxPlan(
        chain_id=reader.chain_id,
        calls=tuple(asset.revoke(spender) for asset, spender, _ in standing),
        allowances=tuple(
            AllowanceLeft(asset.meta, spender, granted=0, left=0)
            for asset, spender, _ in standing
            if asset.meta is not None
        ),
        action_class=ActionClass.CLOSE_POSITION,
        details={
            "revoked": [
                {"token": asset.address, "spender": spender, "was": "every item" if asset.meta is None else str(was)}
                for asset, spender, was in standing
            ]
        },
    )


def _describe(reader: ChainReader, given: Given) -> ApprovalFound:
    meta = _find_token(reader, given.token)
    label = _name(reader.chain_id, given.spender)
    level = "Risky" if label is None else "Elevated" if given.is_unlimited else "Safe"
    return ApprovalFound(
        token=given.token,
        # A token that is not registered calls itself what it likes: its address says which it is.
        token_symbol=meta.symbol if meta is not None and meta.is_registered else None,
        spender=given.spender,
        spender_label=label,
        through=given.through or None,
        token_id=None if given.item is None else str(given.item),
        allowance=None if meta is None or given.amount is None else TokenAmount(given.amount, meta),
        is_unlimited=given.is_unlimited,
        expires_at=given.expires_at,
        risk_level=level,
        last_used=None,
        revoke=RevokeWith(given.token, PERMIT2 if given.through else given.spender) if given.item is None else None,
    )


@dataclass(frozen=True, slots=True)
class _Asset:
    """What an approval is of: a token, or a collection where `meta` is None."""

    address: str
    meta: TokenMeta | None

    def revoke(self, spender: str) -> Call:
        if self.meta is None:
            return erc721.revoke_operator(collection=self.address, operator=spender)
        return erc20.revoke(token=self.meta, spender=spender)


def _find_asset(reader: ChainReader, named: str) -> _Asset:
    """Raises TokenNotFound for a symbol that names none."""
    meta = _find_token(reader, named) if named.startswith("0x") else reader.token(named)
    return _Asset(named if meta is None else meta.address, meta)


def _find_token(reader: ChainReader, address: str) -> TokenMeta | None:
    try:
        return reader.token(address)
    except TokenNotFound:
        return None


def _name(chain_id: int, spender: str) -> str | None:
    """Whose contract it is, where a protocol of the shelf says so."""
    if spender == PERMIT2:
        return "Permit2"
    owner = SHELF.of_contract(chain_id, spender)
    return None if owner is None else SHELF.label_on(owner.name, chain_id)
