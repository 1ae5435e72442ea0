"""Asks the protocols how each position can be left now: a step, a wait, a missing token, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.clock import tell_unix_time
from tools_app.portfolio.holdings import HeldPosition
from tools_app.subsystems.safety.account_measurement import OnChain
from tools_app.toolkit.positions import Act, ExitStep, NeedsTrade, Stuck, Wait
from tools_app.toolkit.protocol import SHELF


@dataclass(frozen=True, slots=True)
class WayOut:
    """The next step out of a position. `kind` is act, wait, trade or stuck; `until` unix seconds of a wait."""

    kind: str
    reason: str
    tool: str | None = None
    params: Mapping[str, object] | None = None
    until: int | None = None
    missing_token: str | None = None
    missing_raw: int = 0


def find_way_out(place: OnChain, held: HeldPosition) -> WayOut:
    """Ask the protocol how the position is left with what the wallet holds. No I/O."""
    protocol = SHELF.get(held.ref.protocol)
    if protocol is None or protocol.exits is None:
        return WayOut("stuck", "no tool of this server leaves it")
    wallet = {each.token.address: each.raw for each in place.holdings.tokens}
    return _describe(protocol.exits.next_step(held.position, wallet, place.now))


def _describe(step: ExitStep | None) -> WayOut:
    if isinstance(step, Act):
        return WayOut("act", step.reason, step.tool, dict(step.params))
    if isinstance(step, Wait):
        ends = None if step.until is None else tell_unix_time(step.until)
        when = "nobody knows until when" if ends is None else f"until {ends}"
        return WayOut("wait", f"{step.reason} ({when})", until=step.until)
    if isinstance(step, NeedsTrade):
        return WayOut("trade", step.reason, missing_token=step.token, missing_raw=step.raw)
    if isinstance(step, Stuck):
        return WayOut("stuck", step.reason)
    return WayOut("act", "nothing is left in it")
