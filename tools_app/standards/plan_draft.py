"""Collects what every plan of a write repeats: balances checked, exact approvals, promises, changes of positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools_app.core.errors import InsufficientBalance
from tools_app.core.units import format_units
from tools_app.standards import erc20, permit2
from tools_app.standards.exact_approval import plan_spending
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.views import TokenMeta


def check_enough(token: TokenMeta, *, balance: int, needed: int) -> None:
    """Raises InsufficientBalance with both figures in base units and in units."""
    if balance < needed:
        raise InsufficientBalance(
            f"this needs {format_units(needed, token.decimals, token.symbol)} and the account holds "
            f"{format_units(balance, token.decimals, token.symbol)}",
            token=token.address,
            needed=str(needed),
            available=str(balance),
        )


@dataclass
class PlanDraft:
    """A plan in the making, for one account on one chain."""

    chain_id: int
    account: str
    calls: list[Call] = field(default_factory=list)
    spends: list[TokenFlow] = field(default_factory=list)
    receives: list[TokenFlow] = field(default_factory=list)
    changes: list[PositionChange] = field(default_factory=list)
    _afterwards: list[Call] = field(default_factory=list)
    _granted: dict[tuple[str, str, str], AllowanceLeft] = field(default_factory=dict)

    def call(self, *calls: Call) -> None:
        """Calls, one after the other."""
        self.calls += calls

    def approve(
        self, token: TokenMeta, *, spender: str, amount: int, allowance: int, least_taken: int | None = None
    ) -> bool:
        """Let `spender` take exactly `amount`, given that it may take `allowance` now; whether a call was needed.

        `least_taken` is the least that the calls use up where that is not all of it: the rest may stay.
        """
        if token.is_native or allowance >= amount:
            return False
        self.calls += erc20.approvals_for(token=token, spender=spender, amount=amount, allowance=allowance)
        left = 0 if least_taken is None else max(0, amount - least_taken)
        self._grant(AllowanceLeft(token, spender, amount, left))
        return True

    def approve_through_permit2(
        self, token: TokenMeta, *, spender: str, amount: int, allowance: int, until: int, is_used_up: bool = True
    ) -> None:
        """Let `spender` take `amount` by way of Permit2 until `until` (Unix seconds); `allowance` is the token's own to
        Permit2. What is not used up is taken back at the end of the plan, from both.
        """
        raised = self.approve(token, spender=PERMIT2, amount=amount, allowance=allowance)
        self.calls.append(permit2.approve(token=token, spender=spender, amount=amount, expiration=until))
        self._grant(AllowanceLeft(token, spender, amount, 0, through=PERMIT2))
        if not is_used_up:
            self._afterwards.append(permit2.revoke(token=token, spender=spender))
            if raised:
                self._afterwards.append(erc20.revoke(token=token, spender=PERMIT2))

    def pay(self, reader: ChainReader, token: TokenMeta, amount: int, *, to: str, at_most: int | None = None) -> None:
        """The next call takes `amount` of the account: balance checked, exactly approved, promised, nothing left.

        Up to `at_most` where that may be more and is held: what is left of it is taken back at the end of the plan.
        Raises InsufficientBalance, ContractOutputUnexpected.
        """
        spending = plan_spending(reader, account=self.account, token=token, spender=to, expected=amount, most=at_most)
        self.calls += spending.approvals
        self._afterwards += spending.afterwards
        self.spends.append(spending.flow)
        self._grant(spending.allowance)

    def adopt(self, plan: TxPlan) -> None:
        """The calls and approvals of another plan; its flows are the caller's to account for."""
        self.calls += plan.calls
        for each in plan.allowances:
            self._grant(AllowanceLeft(each.token, each.spender, each.granted, 0, each.through))

    def revoke(self, token: TokenMeta, *, spender: str) -> None:
        """Take back what the spender left of an approval."""
        self.calls.append(erc20.revoke(token=token, spender=spender))

    def spend(self, token: TokenMeta, expected: int, *, at_most: int | None = None) -> None:
        """The account gives this much."""
        self.spends.append(TokenFlow(token, expected=expected, bound=expected if at_most is None else at_most))

    def receive(self, token: TokenMeta, expected: int, *, at_least: int | None = None) -> None:
        """The account gets this much."""
        self.receives.append(TokenFlow(token, expected=expected, bound=expected if at_least is None else at_least))

    def finish(
        self,
        *,
        action_class: ActionClass | None,
        details: Mapping[str, object],
        **others: Any,  # Any: further fields of the plan
    ) -> TxPlan:
        """The plan. Approvals are used up in it or taken back, but for what `least_taken` said may stay."""
        return TxPlan(
            chain_id=self.chain_id,
            calls=(*self.calls, *self._afterwards),
            spends=tuple(self.spends),
            receives=tuple(self.receives),
            allowances=tuple(self._granted.values()),
            action_class=action_class,
            recipients=(self.account,),
            changes=tuple(self.changes),
            details=details,
            **others,
        )

    def _grant(self, given: AllowanceLeft) -> None:
        key = (given.token.address, given.spender, given.through)
        before = self._granted.get(key)
        if before is not None:
            granted, left = before.granted + given.granted, before.left + given.left
            given = AllowanceLeft(given.token, given.spender, granted, left, given.through)
        self._granted[key] = given
