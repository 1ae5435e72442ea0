"""Keeps every debt of the golem well above where it is liquidated: lowers one that comes near, before its floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from golem_project.heartbeat.debt_health import Alarm, plan_deleverage
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.strategies.strategy import Sight, StoredFields
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class LoanKeeper:
    """Health is cover over debt in basis points, 10,000 is liquidation. Under `act_below_bps` a debt is lowered until
    its health is `keep_bps`. What is under the owner's floor is the tripwire's, which acts first.
    """

    kind: ClassVar[str] = "loan_keeper"

    act_below_bps: int
    keep_bps: int

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`."""
        read = StoredFields(stored, cls.__match_args__)
        found = cls(
            act_below_bps=read.whole("act_below_bps", least=11_500, most=100_000),
            keep_bps=read.whole("keep_bps", least=11_600, most=200_000),
        )
        if not read.wrong and found.keep_bps * 100 < found.act_below_bps * 105:
            read.refuse("keep_bps", "a twentieth above where it acts at least, or it would act again and again")
        read.check("the keeper of loans")
        return found

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return asdict(self)

    @property
    def tokens(self) -> tuple[str, ...]:
        """None: debts are seen anyway."""
        return ()

    @property
    def keys(self) -> tuple[str, ...]:
        """None: a debt's health tells all."""
        return ()

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """Lower each debt whose health is under the line, the one nearest to liquidation first."""
        if sight.whole is None:
            return ()
        held = {str(each.ref): each for each in sight.whole.positions}
        wishes = []
        for debt in sorted(sight.debts, key=lambda each: each.health_bps):
            if debt.alarm in (Alarm.UNDER, Alarm.UNKNOWN) or debt.health_bps >= self.act_below_bps:
                continue
            if debt.ref not in held:
                continue
            wish = plan_deleverage(
                debt,
                held[debt.ref],
                sight.account,
                target_bps=self.keep_bps,
                key=f"keep_loan:{debt.ref}",
                reason=f"The health of {debt.label} is {format_ratio(debt.health_bps)}; it is kept at"
                f" {format_ratio(self.keep_bps)} once it is under {format_ratio(self.act_below_bps)}.",
                urgency=Urgency.LOAN,
            )
            wishes += [wish] if wish is not None else []
        return tuple(wishes)

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """None."""
        return frozenset()

    def tell_needs(self) -> RuleNeeds | None:
        """Nothing: what lowers a debt is held to no limit of spending."""
        return None

    def describe(self) -> str:
        """See `RuleStrategy`."""
        return (
            f"A debt whose health is under {format_ratio(self.act_below_bps)} is lowered until it is"
            f" {format_ratio(self.keep_bps)}."
        )
