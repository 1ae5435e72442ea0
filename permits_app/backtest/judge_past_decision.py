"""One past decision put before the hooks' own rules with another policy: what hooks 1 to 4 would have answered.

The rules are asked through `hook_chain.decide`; here is only what they are asked about. What is not in the row is never
guessed: such a decision cannot be judged, and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from archetypes_app.profiles import cap_writes_per_hour
from archetypes_app.toolset import view_golem
from permits_app.approvals.policy_state import CAGE_COLUMNS, LIMIT_COLUMNS, PolicyState, split_entry
from permits_app.backtest.past_decisions import PastDecision
from permits_app.hook_rejection import Reject
from permits_app.limits.trading_costs import CostsUsed
from permits_app.limits.usage import Usage
from permits_app.limits.valuation import PlanValue
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.safety import hook_chain
from permits_app.safety.assets import RAISING
from permits_app.safety.drawdown import Fall
from permits_app.safety.hook import HookCall, HookStage
from permits_app.safety.hook_chain import LoadedRules
from permits_app.safety.hook_inputs_json import JudgedFacts
from permits_app.safety.hooks.policy_cage import (
    CageReads,
    CageRows,
    judge_approved,
    judge_rows,
    judge_standing,
)
from permits_app.safety.hooks.rate_limiter import RateFacts
from permits_app.safety.hooks.spending_limiter import SpendFacts
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.wording.address_names import list_tokens

REPLAYED: Final = (
    "policy_cage.phase",
    "policy_cage.risk_layer",
    "policy_cage.conservative_",
    "policy_cage.approved_asset",
    "policy_cage.max_",
    "policy_cage.collateral_ratio",
    "policy_cage.drawdown",
    "policy_cage.nav_breaker",
    "policy_cage.rebalance",
    "policy_cage.action_gate_",
    "allowlist_guard.",
    "spending_limiter.per_",
    "spending_limiter.slippage",
    "spending_limiter.price_impact",
    "spending_limiter.trading_costs_",
    "rate_limiter.per_hour",
    "rate_limiter.alike",
)
"""Refusals that the facts of their moment reproduce. What another rule refused stays refused under every draft."""

BY_CONTRACT: Final = "policy_cage.contract"
NOT_KEPT: Final = "recorded before facts were kept"
NO_HOLDINGS: Final = "its holdings could not be read then"
NO_REBALANCES: Final = "its rebalances of that day were too many to keep"
NO_TOOL: Final = "its tool is not here any more"
OLD_FALL: Final = "the fall that stood then was recorded before this period"
ON_CHAIN: Final = "the contract refused it by its own state of that block"


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """The rule that refuses, empty when it is allowed; or why that cannot be told."""

    rule: str = ""
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class KeptValue(PlanValue):
    """What a plan could spend as its row keeps it: the sum, without the parts."""

    kept_micro_usd: int = 0

    @property
    def spend_micro_usd(self) -> int:
        return self.kept_micro_usd


class PolicyDraft:
    """A policy as the rules take it: rows that are never saved, and the allowlist by chain."""

    def __init__(self, policy: PolicyState) -> None:
        self.limits = SpendingLimits()
        self.cage = PolicyCage()
        _fill(self.limits, policy["limits"], LIMIT_COLUMNS)
        _fill(self.cage, policy["cage"], CAGE_COLUMNS)
        listed: dict[int, set[tuple[str, str]]] = {}
        for chain_id, kind, address in map(split_entry, policy["allowlist"]):
            listed.setdefault(chain_id, set()).add((kind, address))
        self._allowlist = {chain_id: frozenset(entries) for chain_id, entries in listed.items()}

    def allowlist_on(self, chain_id: int) -> frozenset[tuple[str, str]]:
        """Pairs of kind and EIP-55 address."""
        return self._allowlist.get(chain_id, frozenset())


@dataclass(frozen=True, slots=True)
class DraftQuestion:
    """One decision under one draft, with what the draft's own course changed of its facts."""

    call: HookCall
    facts: JudgedFacts
    rows: CageRows
    usage: Usage
    costs: CostsUsed

    @property
    def measures(self) -> bool:
        """Whether hook 1 comes to look at the holdings at all."""
        if self.call.action_class not in RAISING or self.facts.portfolio is None:
            return False
        refused = judge_standing(self.call) or judge_rows(self.call, self.rows)
        return refused is None and judge_approved(self.call, find_wrapped(self.call)) is None

    def ask(self, fall: Fall | None) -> DraftAnswer:
        """What hooks 1 to 4 answer. `fall` is what the draft measured, None when it did not come to it."""
        portfolio = self.facts.portfolio
        holdings = CageReads(
            is_known=True,
            wrapped_native=find_wrapped(self.call),
            portfolio=portfolio,
            fall=fall if portfolio is not None and portfolio.is_complete else None,
        )
        loaded = LoadedRules(
            rows=self.rows,
            holdings=holdings,
            spend=SpendFacts(prices={}, usage=self.usage, trade=self.facts.trade, costs=self.costs),
            # Loop guard and breaker judged what was done around the call, which no draft changes.
            rate=RateFacts(
                usage=self.usage,
                cap=cap_writes_per_hour(is_conservative=self.facts.is_conservative),
                is_venue_tried=False,
                alike=(self.call.now,) * self.facts.alike,
            ),
        )
        verdict = hook_chain.decide(self.call, loaded)
        if not isinstance(verdict, Reject):
            return DraftAnswer()
        if verdict.rule == "policy_cage.price_missing":
            return DraftAnswer(unknown=NO_HOLDINGS)
        return DraftAnswer(rule=verdict.rule)


def make_question(
    past: PastDecision, draft: PolicyDraft, *, facts: JudgedFacts, rows: CageRows, usage: Usage, costs: CostsUsed
) -> DraftQuestion | None:
    """The call of `past` as the hooks saw it, under `draft`; None when its tool is not here any more."""
    tool = _find_tool(past.tool_name)
    if tool is None:
        return None
    if (tool.risk_layer, tool.category) != (facts.layer, facts.category):
        tool = replace(tool, risk_layer=facts.layer, category=facts.category)
    golem = _stand_in(past.account, str(facts.phase))
    gas = past.value_micro_usd - facts.spend_micro_usd
    call = HookCall(
        stage=HookStage.PREVIEW,
        golem=golem,
        view=view_golem(golem),
        toolset=_NO_TOOLS,
        tool=tool,
        params={},
        plan=past.plan,
        effect=None,
        action_class=past.action_class,
        value=KeptValue(gas_micro_usd=gas, kept_micro_usd=facts.spend_micro_usd),
        chain=None,
        limits=draft.limits,
        cage=draft.cage,
        allowlist=draft.allowlist_on(past.plan.chain_id),
        api_key_id=past.key_id,
        now=past.at,
    )
    return DraftQuestion(call, facts, rows, usage, costs)


def find_wrapped(call: HookCall) -> str | None:
    """The token that wraps the coin of the call's chain."""
    return _wrapped_on(call.plan.chain_id) if call.plan is not None else None


def _fill(row: SpendingLimits | PolicyCage, values: Mapping[str, str], columns: Sequence[str]) -> None:
    for field in row._meta.concrete_fields:
        # A version from before a column was there keeps the column's default.
        if field.name in columns and field.name in values:
            setattr(row, field.name, field.to_python(values[field.name]))


def _find_tool(name: str) -> WriteTool | None:
    found = REGISTRY.get(name) if name in REGISTRY else None
    return found if isinstance(found, WriteTool) else None


def _wrapped_on(chain_id: int) -> str | None:
    network = KNOWN_NETWORKS.get(chain_id)
    wanted = f"W{network.native_symbol}" if network is not None else ""
    return next((token.address for token in list_tokens(chain_id) if token.symbol == wanted), None)


def _stand_in(account: str, phase: str) -> Golem:
    """The golem as the rules see it: where its funds are and how it lives. Never saved."""
    return Golem(id=_NOBODY, address=account, phase=phase)


_NOBODY: Final = UUID(int=0)
_NO_TOOLS: Final = Toolset.of((), "")
