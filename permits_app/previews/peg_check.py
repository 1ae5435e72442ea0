"""Refuses to put more into a token that left its peg, before the hooks run.

What leaves a position or lowers a debt is never asked, and the base asset may always be bought: that is the way out.

See docs/decisions/0512-pegs-a-token-off-its-peg-is-told.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from permits_app.errors import TokenOffPeg
from permits_app.models import DeclaredPeg
from permits_app.safety.assets import find_base_asset
from permits_app.safety.hook import HookCall
from permits_app.safety.run_preview_hooks import keep_denial
from tools_app.chain.public_pegs import PegUnit
from tools_app.core.errors import Recovery
from tools_app.portfolio.pegs import MOST_DECLARED, Peg, by_reader, find_off_peg, join_pegs
from tools_app.toolkit.enums import ENTERING, LEAVING
from tools_app.toolkit.plan import TxPlan


def read_declared(golem_id: UUID) -> tuple[Peg, ...]:
    """The pegs that a golem's owners declare, those declared first where there are more than are watched."""
    rows = DeclaredPeg.objects.filter(golem_id=golem_id).order_by("pk")[:MOST_DECLARED]
    return tuple(
        Peg(row.chain_id, row.token, row.name, PegUnit(row.stands_for), row.most_apart_bps, row.source) for row in rows
    )


def refuse_off_peg(call: HookCall, declared: Iterable[Peg]) -> None:
    """Raises TokenOffPeg for an action that puts more into a token that left its peg; it is kept as refused.

    `declared` are the pegs that the golem's owners declare.
    """
    if call.plan is None or call.chain is None or call.action_class in LEAVING:
        return
    entered = _list_entered(call, call.plan, find_base_asset(call.chain, call.golem.base_asset))
    if not entered:
        return
    pegs = join_pegs(call.plan.chain_id, declared)
    asked = {address: pegs[address] for address in sorted(entered) if address in pegs}
    for off in find_off_peg(asked.values(), by_reader(call.chain, with_pools=asked)):
        error = TokenOffPeg(
            f"{off.words}, so nothing more is put into it",
            rule="previews.off_peg",
            observed=off.words,
            limit=off.peg.source,
            would_pass=f"the same without {off.peg.name}, a decrease or close now, or this one once its price is back",
            token=off.peg.token,
            recovery=Recovery.WAIT,
        )
        keep_denial(call, error, facts={})
        raise error


def _list_entered(call: HookCall, plan: TxPlan, base: str) -> frozenset[str]:
    """Tokens of which more would be held: what arrives, the base asset left out, and what goes into a position, of
    others' money too.
    """
    arriving = {flow.token.address for flow in plan.receives} - {base}
    inside = {change.token for change in plan.changes if change.expected > 0}
    if call.action_class in ENTERING and not plan.receives:
        inside |= {flow.token.address for flow in plan.spends} | {flow.token.address for flow in plan.principals}
    return frozenset(arriving | inside)
