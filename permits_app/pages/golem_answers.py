"""Answers what an owner asks first: may it spend now, what can it lose today, where is its money, what needs me.

Reads rows only. An answer never promises more than the rules hold to: who cannot spend by a key may still carry out
what an owner approves, and prices move what is held whatever the limits say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from permits_app.custody.allowed_keys import find_allowing_safe
from permits_app.limits import ledger
from permits_app.limits.trading_costs import read_costs
from permits_app.models import ActionPermit, ChangeRequest, Death, PendingRequest, PolicyCage, SpendingLimits
from permits_app.models.approval import ChangeState
from permits_app.models.death import OPEN
from permits_app.models.pending_request import RequestState
from permits_app.models.permit import PermitStatus
from permits_app.pages.golem_state import GolemState
from permits_app.pages.key_limits import say_heartbeat, say_hosts, say_keys
from permits_app.pages.leftover_dust_lines import say_left
from permits_app.pages.portfolio_card import PortfolioCard
from permits_app.safety.drawdown import read_fall
from tools_app.toolkit.enums import Phase
from tools_app.wording.formats import format_age, format_bps, format_usd

_MUST_SHRINK = (Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)
_CALLS_FOR_YOU = (RequestState.STUCK, RequestState.LOST)


@dataclass(frozen=True, slots=True)
class OwnerAnswer:
    """One question with its answer, why it is so, where to go (words with an address), and its parts."""

    name: str
    question: str
    answer: str
    why: str
    tone: str
    links: tuple[tuple[str, str], ...] = ()
    parts: tuple[str, ...] = ()


def answer_all(
    golem: Golem, state: GolemState, portfolio: PortfolioCard, *, is_beating: bool, now: datetime
) -> tuple[OwnerAnswer, ...]:
    """The four answers, in the order in which they are asked."""
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
    usage = ledger.read_usage(golem_id=golem.pk, api_key_id=None, heartbeat_tick=golem.heartbeat_tick, now=now)
    left = max(0, limits.per_day_micro_usd - usage.day_micro_usd)
    frees = format_age(usage.day_resets_at, now=now) if usage.day_resets_at else ""
    spends = _may_spend(golem, state, left, frees, is_beating=is_beating, now=now)
    return (
        spends,
        _can_lose(
            golem,
            spends,
            limits,
            left,
            portfolio,
            beats=usage.session_micro_usd if is_beating and golem.is_live else None,
            now=now,
        ),
        _where_is_it(golem, portfolio),
        _what_needs_you(golem, state, portfolio),
    )


def _may_spend(
    golem: Golem, state: GolemState, left: int, frees: str, *, is_beating: bool, now: datetime
) -> OwnerAnswer:
    question = "May it spend now?"

    def no(why: str, word: str = "No", tone: str = "quiet") -> OwnerAnswer:
        return OwnerAnswer("spend", question, word, why, tone)

    if state.is_retired:
        return no("It is retired: nothing of it is signed any more but what you withdraw yourself.")
    if state.is_stopped and state.is_ending:
        return no("It ends: nothing is signed any more but the steps that take out what it has.", tone="bad")
    if state.is_stopped:
        return no("It is stopped: no commit starts and nothing new is signed until its owners resume it.", tone="bad")
    if not state.can_act:
        return no("It has no account: it reads and previews nothing that spends.")
    keys = ApiKey.objects.filter(
        golem=golem, revoked_at__isnull=True, expires_at__gt=now, scopes__contains=[Scope.COMMIT]
    ).count()
    by_keys, by_heartbeat = golem.may_keys_spend and bool(keys), is_beating and golem.is_live
    if not by_keys and not by_heartbeat:
        why = (
            "Agent keys may spend, but no key that may commit is in use."
            if golem.may_keys_spend
            else "Agent keys only preview."
        )
        beat = "Its heartbeat only rehearses" if is_beating else "Its heartbeat is off"
        return no(f"{why} {beat}. What you approve yourself is still carried out.")
    if left == 0:
        return no(f"Its limit of 24 h is used up; the oldest part is free {frees or 'later'}.", tone="warn")
    who = [
        f"its agents, by {keys} key{'s' if keys > 1 else ''}" if by_keys else "",
        "its heartbeat" if by_heartbeat else "",
    ]
    told = " and ".join(each for each in who if each)
    told = told[:1].upper() + told[1:]
    if state.is_ending:
        return no(f"{told}, and only until it is stopped, which its end begins with.", "Until it ends", "warn")
    if read_fall(golem.pk).violated_at is not None:
        return no(
            f"{told}, and only to shrink or close positions: what it holds fell beyond its limit, which you have not"
            " acknowledged yet.",
            "Only to get out",
            "warn",
        )
    if Phase(golem.phase) in _MUST_SHRINK:
        return no(f"{told}, and only as its phase allows: {golem.phase.lower()}.", "Only to get out", "warn")
    return OwnerAnswer("spend", question, "Yes", f"{told}, within its limits.", "good")


def _can_lose(
    golem: Golem,
    spends: OwnerAnswer,
    limits: SpendingLimits,
    left: int,
    portfolio: PortfolioCard,
    *,
    beats: int | None,
    now: datetime,
) -> OwnerAnswer:
    """No more than its limits leave, nor than it owns where all of that is counted; and who may take how much of it.

    `beats` is what its heartbeat spent in its session, None where it spends nothing.
    """
    question = "What can it lose today?"
    cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
    most = format_bps(cage.max_drawdown_bps)
    fall = f"Falling prices are not counted here; once it lost {most} in 24 h, it opens nothing."
    address = (
        ("Limits", reverse("admin:archetypes_app_golem_rules", args=[golem.pk])),
        *_link_allowances(golem),
    )
    if spends.answer == "No":
        return OwnerAnswer(
            "lose", question, "Nothing by spending", f"It spends nothing now. {fall}", spends.tone, address
        )
    costs = max(0, limits.trading_costs_per_day_micro_usd - read_costs(golem_id=golem.pk, now=now).day_micro_usd)
    trades = f"trades may lose {format_usd(min(left, costs))} more of it in fees and price. {fall}"
    of_the_day = f"of {format_usd(limits.per_day_micro_usd)} in 24 h"
    worth = portfolio.value_micro_usd
    parts = (
        *(say_keys(golem, limits, day_left=left, now=now) if golem.may_keys_spend else ()),
        *((say_heartbeat(limits, used_micro_usd=beats, day_left=left),) if beats is not None else ()),
        *say_hosts(golem, now=now),
    )
    if worth is not None and not portfolio.uncounted and left > worth:
        held = f"{format_usd(max(0, worth))} at most"
        why = f"All that it owns: it may still spend {format_usd(left)} {of_the_day}, which is more; {trades}"
        return OwnerAnswer("lose", question, held, why, "info", address, parts)
    why = f"So much {of_the_day} is left to spend; {trades}"
    return OwnerAnswer("lose", question, f"{format_usd(left)} at most", why, "info", address, parts)


def _link_allowances(golem: Golem) -> tuple[tuple[str, str], ...]:
    """Where keys are told that its Safe's owners gave an amount a day, which no limit of this server holds."""
    safe = find_allowing_safe(golem)
    if safe is None or not safe.has_module:
        return ()
    url = reverse("admin:archetypes_app_golem_allowances", args=[golem.pk])
    return (("Keys that its Safe gives an amount, beside these limits", url),)


def _where_is_it(golem: Golem, portfolio: PortfolioCard) -> OwnerAnswer:
    question = "Where is its money?"
    address = reverse("admin:archetypes_app_golem_money", args=[golem.pk])
    if not golem.address:
        return OwnerAnswer("money", question, "Nowhere", "It has no account.", "quiet", (("Money", address),))
    if portfolio.problem:
        return OwnerAnswer("money", question, "Not known now", portfolio.problem, "warn", (("Money", address),))
    where = [f"{each.worth} in {each.label}" for each in portfolio.positions[:3]]
    more = len(portfolio.positions) - len(where)
    where += [f"{more} more position{'s' if more > 1 else ''}"] if more > 0 else []
    told = f"{'; '.join(where)}; the rest in its wallet" if where else "All of it in its wallet"
    debt = f" {portfolio.debt} of debt is subtracted." if portfolio.debt else ""
    return OwnerAnswer(
        "money", question, portfolio.value, f"{told}.{debt} At {portfolio.block}.", "info", (("Money", address),)
    )


def _what_needs_you(golem: Golem, state: GolemState, portfolio: PortfolioCard) -> OwnerAnswer:
    question = "What needs you?"
    open_requests = ChangeRequest.objects.filter(golem=golem, state=ChangeState.OPEN).count()
    unknown = ActionPermit.objects.filter(golem=golem, status=PermitStatus.UNKNOWN).count()
    stuck = PendingRequest.objects.filter(golem=golem, state__in=_CALLS_FOR_YOU).count()
    links = []
    if open_requests:
        links.append(
            (
                _count(open_requests, "request to decide", "requests to decide"),
                reverse("admin:permits_app_changerequest_inbox"),
            )
        )
    if state.is_stopped and not state.is_retired:
        links.append(("it is stopped: resume it, or leave it so", f"{_page(golem)}#state"))
    if state.is_retired and portfolio.value_micro_usd:
        withdraw = reverse("admin:archetypes_app_golem_withdraw", args=[golem.pk])
        links.append((f"{portfolio.value} that it still holds: withdraw it", withdraw))
    if state.is_ending:
        left = [say_left(each)[0] for death in Death.objects.filter(golem=golem, state__in=OPEN) for each in death.left]
        links.append((_say_ending(left), f"{_page(golem)}#ending"))
    if read_fall(golem.pk).violated_at is not None:
        links.append(("a fall to acknowledge", reverse("admin:archetypes_app_golem_drawdown", args=[golem.pk])))
    if unknown:
        links.append(
            (_count(unknown, "outcome nobody knows", "outcomes nobody knows"), _list_of("actionpermit", golem))
        )
    if stuck:
        links.append(
            (_count(stuck, "request that is stuck", "requests that are stuck"), _list_of("pendingrequest", golem))
        )
    if not links:
        return OwnerAnswer("needs", question, "Nothing", "Nothing of this golem waits for you.", "good")
    return OwnerAnswer("needs", question, _count(len(links), "thing", "things"), "", "warn", tuple(links))


def _say_ending(left: Sequence[str]) -> str:
    return f"it ends, and this is not out yet: {'; '.join(left[:3])}" if left else "it ends: look at it"


def _page(golem: Golem) -> str:
    return reverse("admin:archetypes_app_golem_change", args=[golem.pk])


def _list_of(model: str, golem: Golem) -> str:
    return f"{reverse(f'admin:permits_app_{model}_changelist')}?of_golem={golem.pk}"


def _count(many: int, one: str, more: str) -> str:
    return f"{many} {one if many == 1 else more}"
