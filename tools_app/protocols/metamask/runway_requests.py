"""Asking an owner for a runway, and giving one up. Neither sends anything: an owner's own wallet grants and revokes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from tools_app.core.clock import tell_unix_time
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.protocols.metamask.addresses import NAME, place_on
from tools_app.protocols.metamask.received import OWNER_STEP
from tools_app.protocols.metamask.tools import DAY, GolemId, check_own, metamask
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, TickBudget
from tools_app.toolkit.others_money import RightsBook
from tools_app.toolkit.params import Address, RawAmount, check_whole
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.result import TokenAmount

MOST_A_DAY: Final = 100 * 10**6
"""Base units of USDC: more than this a day no golem asks for."""
LIVES_ON: Final = "USDC"

DaysAhead = Annotated[
    int, Field(ge=1, le=90, description="How many days it should last, 1 to 90."), BeforeValidator(check_whole)
]
Reason = Annotated[
    Literal["terminal", "policy_violation", "owner_kill_switch", "heartbeat_anomaly"],
    Field(description="Why: terminal, policy_violation, owner_kill_switch or heartbeat_anomaly."),
]


@dataclass(frozen=True, slots=True)
class RunwayRequest:
    """What the owner's wallet is asked. `permission_id` is null until it granted something; what it granted then is
    read from the grant. `wallet_request` is one item of `wallet_requestExecutionPermissions` (ERC-7715).
    """

    permission_id: str | None
    stored_in_grimoire: bool
    daily_cap: TokenAmount
    expires_at: str
    wallet_request: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Revoked:
    """How many rights this golem uses no more. On the chain they stand until their giver takes them back there:
    `still_open` names them, and `owner_step` says how.
    """

    revoked_count: int
    session_account_invalidated: bool
    still_open: tuple[str, ...]
    owner_step: str


def preview_request(
    ctx: WriteContext,
    daily_cap_usdc: int,
    duration_days: int,
    golem_id: str | None,
    helper: str | None,
) -> LocalEffect:
    """What the owner would be asked for, and what is lost of it at most. Raises InvalidParams, ChainNotSupported."""
    asked = _describe(ctx, daily_cap_usdc, duration_days, golem_id, helper)
    cap = format_units(daily_cap_usdc, asked.daily_cap.token.decimals, LIVES_ON)
    whole = format_units(daily_cap_usdc * duration_days, asked.daily_cap.token.decimals, LIVES_ON)
    return LocalEffect(
        f"Ask the owner for a runway of {cap} a day for {duration_days} days; by misuse at most {whole} of it is lost",
        {"wallet_request": dict(asked.wallet_request)},
    )


@metamask.local_write(
    schema_version=2,
    budget=TickBudget.FAST,
    preview=preview_request,
    action_class=ActionClass.READ_ONLY,
    in_database=True,
    snippet=(
        "request_runway: write what an owner's wallet is asked for so that this golem lives on: so much USDC a day,"
        " for so many days; nothing is granted by it."
    ),
    guidelines=(
        "Ask for what a day costs and not more: at most 100 USDC a day and 90 days.",
        "Hand wallet_request to the owner; what the wallet grants may be less, and is read from the grant.",
    ),
)
def metamask_request_runway(
    ctx: WriteContext,
    capability: Capability,
    daily_cap_usdc: RawAmount,
    duration_days: DaysAhead,
    golem_id: GolemId | None = None,
    helper: Address | None = None,
) -> RunwayRequest:
    """Write the request by which an owner's wallet grants this golem so much USDC a day.

    Use when the golem cannot pay for itself. `daily_cap_usdc` is base units of USDC. The owner's wallet grants, and
    brings the grant in by the server's command or page; permission_health then tells of it. `helper` is a key that
    redelegate may hand a part of it on to.
    Does not grant anything, does not move money, and does not ask for another golem.
    """
    ctx.step("Writing the request")
    return _describe(ctx, daily_cap_usdc, duration_days, golem_id, helper)


def preview_revocation(ctx: WriteContext, reason: str, golem_id: str | None) -> LocalEffect:
    """Which rights would be used no more. Raises InvalidParams, ChainNotSupported."""
    check_own(ctx, golem_id)
    chain = ctx.chain_id
    place_on(chain)
    book = ctx.service(RightsBook)  # type: ignore[type-abstract]
    found = [each.reference for each in book.list(golem_id=ctx.golem.id, chain_id=chain, protocol=NAME)]
    return LocalEffect(f"Use {len(found)} rights no more ({reason})", {"rights": found, "reason": reason})


@metamask.local_write(
    budget=TickBudget.FAST,
    preview=preview_revocation,
    action_class=ActionClass.CLOSE_POSITION,
    in_database=True,
    privileged=True,
    snippet=(
        "revoke_permissions: have this golem use the runways that owners gave it no more, whatever the chain says;"
        " an owner's wallet alone takes them back there."
    ),
    guidelines=("Tell the owner what is still open: only the wallet that gave a right takes it back on the chain.",),
)
def metamask_revoke_permissions(
    ctx: WriteContext,
    capability: Capability,
    reason: Reason,
    golem_id: GolemId | None = None,
) -> Revoked:
    """Drop every runway of this golem from its book, for good.

    Use at its end, or when something is wrong. On the chain a delegation stands until its giver disables it, raises the
    nonce, or its time is over: the answer names what is still open.
    Does not send anything, cannot revoke on the chain, and does not touch rights of other golems.
    """
    check_own(ctx, golem_id)
    ctx.step("Dropping rights")
    chain = ctx.chain_id
    book = ctx.service(RightsBook)  # type: ignore[type-abstract]
    dropped = book.drop(golem_id=ctx.golem.id, chain_id=chain, protocol=NAME, reason=reason, now=ctx.now)
    return Revoked(
        revoked_count=len(dropped),
        session_account_invalidated=False,
        still_open=tuple(each.reference for each in dropped),
        owner_step=OWNER_STEP,
    )


def _describe(
    ctx: WriteContext, daily_cap_usdc: int, duration_days: int, golem_id: str | None, helper: str | None
) -> RunwayRequest:
    check_own(ctx, golem_id)
    reader = ctx.chain()
    place_on(reader.chain_id)
    token = reader.token(LIVES_ON)
    if daily_cap_usdc > MOST_A_DAY:
        raise InvalidParams(
            f"a golem asks for at most {format_units(MOST_A_DAY, token.decimals, LIVES_ON)} a day",
            fields={"daily_cap_usdc": f"at most {MOST_A_DAY} base units"},
        )
    ends = int(ctx.now.timestamp()) + duration_days * DAY
    return RunwayRequest(
        permission_id=None,
        stored_in_grimoire=False,
        daily_cap=TokenAmount(daily_cap_usdc, token),
        expires_at=tell_unix_time(ends),
        wallet_request={
            "chainId": hex(reader.chain_id),
            "to": ctx.account,
            "permission": {
                "type": "erc20-token-periodic",
                "isAdjustmentAllowed": True,
                "data": {
                    "tokenAddress": token.address,
                    "periodAmount": hex(daily_cap_usdc),
                    "periodDuration": DAY,
                    "justification": f"what {ctx.golem.name} lives on",
                },
            },
            "rules": [
                {"type": "expiry", "data": {"timestamp": ends}},
                {"type": "redeemer", "data": {"addresses": [ctx.account, *([helper] if helper else [])]}},
            ],
        },
    )
