"""`allowance`: a key that may take so much of a token of a golem's Safe in each day, or none any more.

Safe's allowance module holds the key to it, and neither a permit nor the golem's limits do. The Safe's owners sign it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import CageHasNoSafe, ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_LARGE_SECONDS
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SafeTxDraft
from permits_app.approvals.operations.close_safe import find_deployed
from permits_app.approvals.safe_nonces import find_free_nonce
from permits_app.custody.allowed_keys import find_allowed_token, find_allowing_safe, say_allowance
from permits_app.custody.safe_view import SafeView, open_chain, read_safe
from permits_app.custody.signing_route import find_end_through
from permits_app.models import CageMirror, SigningKey, Wallet
from permits_app.permits.plan_store import decode_calls, encode_batch
from permits_app.policy_cage.safe_batches import pack_calls
from permits_app.policy_cage.safe_fallback import MULTI_SEND
from permits_app.policy_cage.safe_tx import ENABLE_MODULE, ZERO_ADDRESS
from permits_app.policy_cage.safe_watch import SafeState, read_runs, read_safe_state
from tools_app.chain.abi import encode_call
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.core.units import format_units
from tools_app.standards.safe_allowance import (
    ADDRESS,
    DAY_MINUTES,
    LARGEST_AMOUNT,
    NAME,
    end_call,
    find_module,
    give_calls,
    read_allowances,
    read_delegate_at,
)
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF
from tools_app.wording.formats import format_seconds

ALLOWANCE: Final = "allowance"
GIVE, END = "give", "end"


@dataclass(frozen=True, slots=True)
class _AllowanceAsked:
    """Give or end, and whose key it is."""

    act: str
    delegate: str


@dataclass(frozen=True, slots=True)
class _Giving(_AllowanceAsked):
    """A token of the golem's home chain, and base units of it a day."""

    token: str
    amount_raw: int


@dataclass(frozen=True, slots=True)
class _SeenModule:
    """The Safe, what the module says of the key, and the calls that change it."""

    chain_id: int
    safe: str
    nonce: int
    threshold: int
    block: int
    ends_through: str
    multi_send: str
    calls: list[dict[str, object]]
    allows: str
    allowed: tuple[str, ...]
    is_enabled: bool
    runs: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _AllowanceArguments(_AllowanceAsked):
    """What is asked for, and what was seen."""

    seen: _SeenModule


@dataclass(frozen=True, slots=True)
class _AllowanceChange(_AllowanceAsked):
    """What was asked for, as its request keeps it; `runs` as `read_runs` tells it."""

    account: str
    runs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Noted:
    """The parts of what owners took note of that an allowance adds to."""

    modules: tuple[str, ...] = ()
    runs: tuple[tuple[str, str], ...] | None = None


class ChangeAllowance:
    """`arguments`: `act`, give or end, and `delegate`, a checksummed address. To give also `token`, the address of a
    token of the golem's home chain, and `amount_raw`, base units a day as text.
    """

    name = ALLOWANCE

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The Safe and what the module says of the key. Raises CageHasNoSafe, ChainNotSupported, InvalidParams."""
        asked, found = read_stored(_AllowanceAsked, arguments), find_allowing_safe(golem)
        if found is None:
            raise CageHasNoSafe("allowances are of a Safe, and this golem acts with a plain account")
        chain = open_chain(found.chain_id, now=now)
        find_module(chain)
        safe, state = read_safe(chain, found.account), read_safe_state(chain, found.account)
        if state is None:
            raise CageHasNoSafe(f"{found.account} does not answer as a Safe does", account=found.account)
        delegate = asked.delegate
        given = [each for each in read_allowances(chain, found.account) if each.delegate == delegate]
        at_index = read_delegate_at(chain, found.account, delegate)
        if asked.act == GIVE:
            _check_key(golem, delegate, safe, state)
            if at_index not in (delegate, ZERO_ADDRESS):
                raise InvalidParams(
                    f"the module already has {at_index}, whose last 48 bits are the same; take another key",
                    fields={"delegate": "another address"},
                )
            calls, words = _plan_giving(
                chain, read_stored(_Giving, arguments), found.account, state, is_known=at_index == delegate
            )
        else:
            if at_index != delegate:
                raise ChangeUnchanged(f"{delegate} may take nothing of the Safe: nobody allowed it anything")
            calls, words = (end_call(delegate),), ""
        seen = _SeenModule(
            chain_id=found.chain_id,
            safe=found.account,
            nonce=safe.nonce,
            threshold=safe.threshold,
            block=safe.block,
            ends_through=find_end_through(chain),
            multi_send=find_deployed(chain, MULTI_SEND),
            calls=encode_batch(calls),
            allows=words,
            allowed=tuple(say_allowance(find_allowed_token(chain, each), each) for each in given),
            is_enabled=ADDRESS in state.modules,
            runs=list(read_runs(chain, [ADDRESS])),
        )
        return {**arguments, "seen": write_stored(seen)}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """What the Safe's owners would sign."""
        asked = read_stored(_AllowanceArguments, arguments)
        seen, delegate = asked.seen, asked.delegate
        chain_id, account = seen.chain_id, seen.safe
        nonce = find_free_nonce(chain_id=chain_id, safe=account, at_least=seen.nonce)
        draft = SafeTxDraft(
            chain_id=chain_id,
            safe=account,
            tx=pack_calls(decode_calls(seen.calls), safe=account, multi_send=seen.multi_send, nonce=nonce),
            block=seen.block,
            threshold=seen.threshold,
            ends_through=seen.ends_through,
        )
        is_giving = asked.act == GIVE
        before = "; ".join(seen.allowed) or "takes nothing of the Safe"
        after = seen.allows if is_giving else "takes nothing of the Safe any more"
        lines = [BeforeAndAfter(f"The key {delegate}", before, after, "loosens" if is_giving else "tightens")]
        if is_giving:
            label = SHELF.label_on(NAME, chain_id)
            lines += [
                BeforeAndAfter("Whom it may pay", "", "anybody: the module knows no list of payees"),
                BeforeAndAfter("Until when", "", "until the Safe's owners end it: the module knows no end by time"),
                BeforeAndAfter(
                    "Who holds it to that",
                    "",
                    f"{label} at {ADDRESS}; no permit, no limit of the golem and no halt of this server",
                ),
            ]
            if not seen.is_enabled:
                lines.append(BeforeAndAfter("Modules of the Safe", "without it", f"{label} is one of them", "loosens"))
            if _list_noted(golem, account):
                after_words = f"{ADDRESS} too, with the code that runs there now: the golem goes on with that module"
                lines.append(BeforeAndAfter("What you agree to of the Safe by it", "", after_words, "loosens"))
        change: dict[str, object] = {
            "act": asked.act,
            "chain_id": str(chain_id),
            "account": account,
            "delegate": delegate,
            "calls": seen.calls,
            "runs": [list(pair) for pair in seen.runs],
        }
        return Proposal(
            title=(f"Let {delegate} take {after}" if is_giving else f"End every allowance of {delegate}")[:200],
            change=change,
            differences=tuple(lines),
            risk_tier=RiskTier.CRITICAL if is_giving else RiskTier.STANDARD,
            cooling_seconds=COOLING_LARGE_SECONDS if is_giving else 0,
            value_micro_usd=read_stake(golem) if is_giving else 0,
            is_tightening=not is_giving,
            safe_tx=draft,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The golem has the same Safe. What the Safe itself refuses is rehearsed before it is sent."""
        found, account = find_allowing_safe(golem), read_stored(_AllowanceChange, change).account
        if found is None or found.account != account:
            raise ChangeStale("the golem acts with another account now", account=account)

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """The chain has it. The module that its owners signed for is agreed to, with the code that ran there."""
        kept = read_stored(_AllowanceChange, change)
        if kept.act == GIVE:
            _agree(golem, kept.account, kept.runs)
        return {"account": kept.account, "delegate": kept.delegate}


# ---- below ---------------------------------------------------------------------------------------------------------


def _check_key(golem: Golem, delegate: str, safe: SafeView, state: SafeState) -> None:
    """Raises InvalidParams for who has more rights already, or is held to permits."""
    why = ""
    if delegate in safe.owners:
        why = "owns the Safe, and needs no allowance"
    elif delegate == safe.address or delegate in state.modules or int(delegate, 16) == 0:
        why = "is the Safe itself, one of its modules, or nobody"
    elif SigningKey.objects.filter(golem=golem, address=delegate).exists() or delegate == golem.address:
        why = "is a key of this golem: what it does has a permit, which an allowance would pass by"
    if why:
        raise InvalidParams(f"{delegate} {why}", fields={"delegate": "the address of somebody else's key"})


def _plan_giving(
    chain: ChainReader, asked: _Giving, safe: str, state: SafeState, *, is_known: bool
) -> tuple[tuple[Call, ...], str]:
    """The calls, and what they allow in words. Raises InvalidParams, and what an unknown token raises."""
    token, amount = chain.token(asked.token), asked.amount_raw
    if not 0 < amount <= LARGEST_AMOUNT:
        raise InvalidParams(
            f"a day's allowance is from 1 to {LARGEST_AMOUNT} base units", fields={"amount_raw": "in that range"}
        )
    if token.is_native:
        raise InvalidParams("an allowance is of a token, not of the chain's coin", fields={"token": "an ERC-20"})
    calls = give_calls(asked.delegate, token.address, amount, is_known=is_known)
    if ADDRESS not in state.modules:
        calls = (
            Call(safe, encode_call(ENABLE_MODULE, ADDRESS), 0, "let the allowance module act for the Safe"),
            *calls,
        )
    every = format_seconds(DAY_MINUTES * 60)
    return calls, f"{format_units(amount, token.decimals, token.symbol)} in each {every}"


def _list_noted(golem: Golem, account: str) -> list[Wallet | CageMirror]:
    """The rows of the Safe that owners took note of, which what they sign for is added to."""
    rows = (
        Wallet.objects.filter(golem=golem, address=account).first(),
        CageMirror.objects.filter(cage__golem=golem, account=account).first(),
    )
    return [row for row in rows if row is not None and row.safe_noted]


def _agree(golem: Golem, account: str, runs: tuple[tuple[str, str], ...]) -> None:
    """Add the module to what was agreed of the Safe; where nobody looked at it yet an owner takes note of it first."""
    for row in _list_noted(golem, account):
        noted = read_stored(_Noted, row.safe_noted)
        added: dict[str, object] = {"modules": sorted({*noted.modules, ADDRESS})}
        if noted.runs is not None:
            added |= {"runs": [list(pair) for pair in sorted({**dict(noted.runs), **dict(runs)}.items())]}
        row.safe_noted = {**row.safe_noted, **added}
        row.save(update_fields=["safe_noted", "updated_at"])
