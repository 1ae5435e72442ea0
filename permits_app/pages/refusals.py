"""Lists what golems were refused, with amounts and the rule; equal ones in a row are one line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.models import DeniedCall, PolicyCage, SpendingLimits
from permits_app.pages.effective_limits import list_effective_limits
from permits_app.words.move_words import describe_move
from permits_app.words.rule_words import RuleRow, describe_rule
from tools_app.pages.html import show_age
from tools_app.wording.address_names import name_addresses
from tools_app.wording.formats import format_usd

DAY: Final = timedelta(hours=24)
_LOOKED_AT: Final = 100
MOST_RULES: Final = 4


@dataclass(frozen=True, slots=True)
class RefusalLine:
    """One action that a rule refused, `times` in a row."""

    golem: Golem
    what: str
    worth: str
    why: str
    rule: str
    age: SafeString
    times: int
    url: str
    """The page of the newest of them."""


@dataclass(frozen=True, slots=True)
class RuleTally:
    """One rule with how often it refused within 24 hours; `percent` of the rule that refused most."""

    words: str
    times: int
    percent: int


@dataclass(frozen=True, slots=True)
class RefusalPage:
    """One refusal whole: what was asked, which rule refused, what it is set to now, and where its owner changes that.

    `lift_words` and `lift_url` are empty where no setting would have let it pass.
    """

    line: RefusalLine
    by_rule: str
    tool_name: str
    venue: str
    setting: str
    lift_words: str
    lift_url: str


def list_refusals(rows: QuerySet[DeniedCall], *, now: datetime, most: int) -> tuple[RefusalLine, ...]:
    """The newest refusals of the last day among `rows`."""
    newest = rows.filter(denied_at__gt=now - DAY).select_related("golem").order_by("-denied_at")[:_LOOKED_AT]
    runs = groupby(newest, key=lambda row: (row.golem_id, row.action_type, row.rule or row.code, row.value_micro_usd))
    return tuple(_describe(list(run), now) for _, run in runs)[:most]


def count_refusals(rows: QuerySet[DeniedCall], *, now: datetime) -> int:
    """How many in the last day."""
    return rows.filter(denied_at__gt=now - DAY).count()


def count_by_rule(rows: QuerySet[DeniedCall], *, now: datetime) -> tuple[RuleTally, ...]:
    """How often each rule refused in the last day, the one that did most first."""
    counted = (
        rows.filter(denied_at__gt=now - DAY).values_list("rule", "code").annotate(times=Count("pk")).order_by("-times")
    )
    by_words: dict[str, int] = {}
    for rule, code, times in counted:
        words = describe_rule(rule or code).words
        by_words[words] = by_words.get(words, 0) + times
    most = max(by_words.values(), default=1)
    return tuple(RuleTally(words, times, times * 100 // most) for words, times in by_words.items())[:MOST_RULES]


def describe_refusal(row: DeniedCall, *, may_change: bool, now: datetime) -> RefusalPage:
    """The page of one refusal, for somebody who may change the golem's rules or only look at them."""
    rule = describe_rule(row.rule or row.code)
    setting = next((limit.value for limit in list_effective_limits(row.golem) if limit.name == rule.column), "")
    words, url = _find_lift(row, rule.row, rule.column) if may_change else ("", "")
    return RefusalPage(
        line=_describe([row], now),
        by_rule=rule.words,
        tool_name=row.tool_name,
        venue=row.venue,
        setting=setting,
        lift_words=words,
        lift_url=url,
    )


def _find_lift(row: DeniedCall, where: RuleRow | None, column: str) -> tuple[str, str]:
    """What an owner presses to let such a thing pass, and where that leads; nothing where no setting does."""
    limits = SpendingLimits.objects.filter(golem=row.golem_id).first()
    cage = PolicyCage.objects.filter(golem=row.golem_id).first()
    if where is RuleRow.LIMITS and limits is not None:
        return "Raise this limit", f"{reverse('admin:permits_app_spendinglimits_change', args=[limits.pk])}#id_{column}"
    if where is RuleRow.CAGE and cage is not None:
        return "Change this rule", f"{reverse('admin:permits_app_policycage_change', args=[cage.pk])}#id_{column}"
    if where is RuleRow.ALLOWLIST:
        return "Add to the allowlist", f"{reverse('admin:permits_app_allowlistentry_add')}?golem={row.golem_id}"
    if where is RuleRow.BUDGET:
        return "Raise the budget", reverse("admin:permits_app_ownerbudget_mine")
    return "", ""


def _describe(run: list[DeniedCall], now: datetime) -> RefusalLine:
    row = run[0]
    why = name_addresses(row.detail, row.chain_id)
    return RefusalLine(
        golem=row.golem,
        what=describe_move(row.action_type, row.bounds),
        worth=format_usd(row.value_micro_usd),
        why=why[:1].upper() + why[1:],
        rule=describe_rule(row.rule or row.code).words,
        age=show_age(row.denied_at, now=now),
        times=len(run),
        url=reverse("admin:archetypes_app_golem_refusal", args=[row.golem_id, row.pk]),
    )
