"""Handing a part of a runway on to somebody's key, what became of it, and taking it back."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tools_app.chain.abi import checksum
from tools_app.core.clock import tell_unix_time
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.core.units import format_units
from tools_app.protocols.metamask.addresses import MANAGER, NAME, NONCE, REDEEMER, place_on
from tools_app.protocols.metamask.delegations import Delegation, encode_context, encode_disable, read_message
from tools_app.protocols.metamask.effects import DISABLED_KEY, DISABLED_TEXT
from tools_app.protocols.metamask.grants import open_terms, read_terms
from tools_app.protocols.metamask.handed_on import HandedOn, Redelegations, hand_on, read_handed_on
from tools_app.protocols.metamask.received import NONCE_OF
from tools_app.protocols.metamask.tools import check_gives, find_standing, metamask
from tools_app.standards.signed_order_tracking import read_fate
from tools_app.toolkit.answer import OfChain
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.others_money import PrincipalFlow, RightsBook, RightView
from tools_app.toolkit.params import Address, Bytes32, RawAmount, check_whole
from tools_app.toolkit.plan import Call, Statement, TxPlan
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.report import Report, told
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.signed_orders import SignedOrder, SignedOrders

LONGEST_SECONDS: Final = 7 * 86_400 - 3_600
"""Nothing signed is open for more than a week."""

HoldsFor = Annotated[
    int, Field(ge=300, le=LONGEST_SECONDS, description="Seconds until it ends."), BeforeValidator(check_whole)
]
Signature = Annotated[
    str, Field(pattern=r"^0x([0-9a-fA-F]{2}){65,1000}$", description="As the commit that handed it on answered it.")
]


class RedelegationUnknown(
    GolemError,
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="The golem handed no such delegation on",
    cleared_by="a hash that this golem's commit of redelegate answered",
):
    """This golem handed nothing of that hash on."""


class RedelegationOver(
    GolemError,
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="What was handed on is over already",
    cleared_by="nothing: it is over",
):
    """Nobody redeems it any more: it was used up, or taken back."""


class HandedOnReport(Report):
    """What was signed. get_redelegation makes what the key redeems from `delegation` and the answer's `signature`."""

    delegation: str
    recipient: str
    principal: str
    amount: str
    ends_at: str


class TakenBackReport(Report):
    """The delegation that nobody redeems any more."""

    delegation: str = told("delegation")


@metamask.write(
    risk=RiskLayer.BOUNDED,
    report=HandedOnReport,
    action_class=ActionClass.INCREASE_POSITION,
    privileged=True,
    snippet=(
        "redelegate: hand a part of a runway on to one key, so much in all and for days at most; owners approve it, the"
        " chain holds the key to it."
    ),
    guidelines=(
        "Say as little and as short as the work needs: the key pays whom it likes with it.",
        "What it takes counts against the same day's runway, whichever of the two is quicker.",
    ),
)
def metamask_redelegate(
    ctx: WriteContext,
    recipient: Address,
    amount: RawAmount,
    expires_in: HoldsFor = 86_400,
    delegation: Bytes32 | None = None,
) -> TxPlan:
    """Sign a narrower delegation of a runway for one key: at most `amount` in all, until `expires_in` seconds are over.

    Use so that a helper's key pays for something itself. `amount` is base units of the runway's token, at most what is
    left of its period; `delegation` its hash where there are several. Always needs the owners' approval.
    Does not widen anything: the runway's own caveats hold the key as well, and its giver ends both.
    """
    reader = ctx.begin("Reading the runway")
    at = place_on(reader.chain_id)
    right, standing = find_standing(ctx, reader, delegation)
    check_gives(right, standing)
    token, parent = reader.token(right.token), open_terms(right.terms)
    if recipient in (ctx.account, right.principal):
        raise InvalidParams("it is handed on to another key", fields={"recipient": "neither the golem nor the giver"})
    _check_redeemers(parent, reader, recipient)
    if amount > standing.available:
        raise InvalidParams(
            f"{format_units(amount, token.decimals, token.symbol)} are more than the"
            f" {format_units(standing.available, token.decimals, token.symbol)} that are left of the runway's period",
            fields={"amount": f"at most {standing.available}"},
            most=str(standing.available),
        )
    starts = reader.block.timestamp
    ends = max(int(ctx.now.timestamp()), starts) + expires_in
    if ends > right.limit.ends_at:
        most = right.limit.ends_at - starts
        raise InvalidParams(
            f"the runway ends in {most} s, and nothing of it is handed on for longer",
            fields={"expires_in": f"at most {most}"},
        )
    ctx.step("Reading the nonce")
    [nonce] = reader.call_many([ReadCall(at[NONCE], NONCE_OF, (at[MANAGER], ctx.account))])
    if not nonce.ok:
        raise PositionsUnreadable("the enforcer of nonces does not answer")
    terms = HandedOn(recipient, right.principal, right.token, amount, starts, ends, int(nonce.values[0]))
    given = hand_on(terms, giver=ctx.account, of=right.reference, mark=int(ctx.now.timestamp()), at=at)
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(),
        action_class=ActionClass.INCREASE_POSITION,
        recipients=(recipient,),
        deadline=ends,
        principals=(PrincipalFlow(NAME, right.reference, right.principal, token, amount, right.limit),),
        promise=given.typed(chain_id=reader.chain_id, at=at),
        details={
            "venue": NAME,
            "delegation": given.hash,
            "order_hash": given.hash,
            "recipient": recipient,
            "principal": right.principal,
            "amount": str(amount),
            "ends_at": tell_unix_time(ends),
        },
    )


@metamask.write(
    risk=RiskLayer.LOW,
    report=TakenBackReport,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="disable_redelegation: take back on the chain what was handed on of a runway: its key takes no more.",
    guidelines=("Its key may be quicker; redelegation says what it took.",),
)
def metamask_disable_redelegation(ctx: WriteContext, delegation: Bytes32) -> TxPlan:
    """Take back on the chain what this golem handed on of a runway.

    Use when its key is not needed any more, or is in wrong hands. Does not undo what was taken, and does not end the
    runway itself: its giver alone does.
    """
    reader = ctx.begin("Reading what was handed on")
    at = place_on(reader.chain_id)
    found = _find(ctx, reader, delegation)
    if read_fate(reader, found.typed, Redelegations(), since=None) not in (Fate.OPEN, Fate.PARTLY):
        raise RedelegationOver("nobody redeems it any more: it was used up or taken back")
    given = read_message(found.typed.message)
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(Call(at[MANAGER], encode_disable(given), 0, f"Take back what {given.delegate} was handed on"),),
        action_class=ActionClass.DECREASE_POSITION,
        statements=(Statement(at[MANAGER], given.hash, DISABLED_KEY, DISABLED_TEXT),),
        details={"delegation": given.hash},
    )


class RedelegationTold(OfChain):
    """`status` is open, partly_used, used_up, taken_back, expired, or runway_gone. `left` is what its own amount has
    left, of which the runway's period may allow less. `context` is what the key redeems, null without a signature.
    """

    delegation: str
    status: str
    recipient: str
    principal: str
    amount: TokenAmount
    left: TokenAmount
    ends_at: str
    context: str | None


@metamask.read(
    budget=TickBudget.FAST,
    snippet="redelegation: what became of what was handed on of a runway, and what its key redeems.",
    guidelines=("Hand the context to the key's holder alone; nobody else can redeem it.",),
)
def metamask_get_redelegation(
    ctx: ReadContext, delegation: Bytes32, signature: Signature | None = None
) -> RedelegationTold:
    """What became of what this golem handed on of a runway, as the contracts say now.

    Use with the hash that redelegate answered. With the `signature` of that answer it tells the whole `context`, the
    first argument by which the key redeems at the manager. Does not tell what others handed on.
    """
    reader = ctx.begin("Reading what was handed on")
    at = place_on(reader.chain_id)
    typed, promises = _find(ctx, reader, delegation).typed, Redelegations()
    outcomes = reader.call_many(promises.ask(typed))
    fate = promises.judge(typed, outcomes, None)
    given = read_message(typed.message)
    terms = read_handed_on(given, at)
    token, runway = reader.token(terms.token), _find_runway(ctx, reader, given.authority)
    words = {Fate.FILLED: "used_up", Fate.CANCELLED: "taken_back"}
    status = words.get(fate or Fate.OPEN)
    if status is None:
        status = "partly_used" if fate is Fate.PARTLY else "open"
        if reader.block.timestamp >= terms.ends_at:
            status = "expired"
        elif runway is None:
            status = "runway_gone"
    context = None
    if signature is not None and runway is not None:
        signed = replace(given, signature=bytes.fromhex(signature[2:]))
        context = "0x" + encode_context(signed, open_terms(runway.terms)).hex()
    return RedelegationTold(
        delegation=given.hash,
        status=status,
        recipient=terms.key,
        principal=terms.principal,
        amount=TokenAmount(terms.most, token),
        left=TokenAmount(int(outcomes[2].values[0]), token),
        ends_at=tell_unix_time(terms.ends_at),
        context=context,
    )


# ---- below ---------------------------------------------------------------------------------------------------------


def _check_redeemers(parent: Delegation, reader: ChainReader, recipient: str) -> None:
    """Raises InvalidParams where the runway's giver named who redeems, and not this key."""
    redeemers = read_terms(parent, place_on(reader.chain_id)).get(REDEEMER)
    if redeemers is None:
        return
    named = [checksum("0x" + redeemers[n : n + 20].hex()) for n in range(0, len(redeemers), 20)]
    if recipient not in named:
        others = [each for each in named if each != parent.delegate]
        raise InvalidParams(
            f"the giver of the runway lets {', '.join(named)} redeem it and nobody else; request_runway with this key"
            " as `helper` asks for one that it may redeem too",
            fields={"recipient": " or ".join(others) or "none: the giver named this golem alone"},
        )


def _find(ctx: ReadContext, reader: ChainReader, delegation: str) -> SignedOrder:
    book = ctx.service(SignedOrders)  # type: ignore[type-abstract]
    found = book(golem_id=ctx.golem.id, chain_id=reader.chain_id, name=delegation)
    if found is None or found.typed.contract != place_on(reader.chain_id)[MANAGER]:
        raise RedelegationUnknown(f"this golem handed nothing of the hash {delegation} on, on chain {reader.chain_id}")
    return found


def _find_runway(ctx: ReadContext, reader: ChainReader, reference: str) -> RightView | None:
    book = ctx.service(RightsBook)  # type: ignore[type-abstract]
    rights = book.list(golem_id=ctx.golem.id, chain_id=reader.chain_id, protocol=NAME)
    return next((each for each in rights if each.reference == reference), None)
