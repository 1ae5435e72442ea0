"""RETRIEVE: the few conclusions of memory that bear on the situation this golem is in."""

from __future__ import annotations

from golem_project.heartbeat.cycle_state import CycleState
from memory_app.insights_for_situation import recall


def retrieve(state: CycleState) -> None:
    """Insights by the situation, as data that says who wrote it: never an instruction."""
    if not state.golem.is_memory_enabled:
        return
    state.recalled = recall(golem_id=state.golem.pk, situation=word_situation(state), now=state.now())


def word_situation(state: CycleState) -> str:
    """The situation in few words that come again: what is kept where, in which market, in which state. No amounts."""
    seen = state.observation
    symbols = sorted({each.token.symbol for each in seen.holdings if each.raw and not each.token.is_native})
    held = [each for each in seen.positions if each.position.liquidity]
    words = [f"{state.begun.regime.lower()} market", f"{state.golem.phase.lower()} golem"]
    if seen.pool is not None:
        pair = [
            each.token.symbol for each in seen.holdings if each.token.address in (seen.pool.token0, seen.pool.token1)
        ]
        words.append(f"liquidity of {' and '.join(sorted(pair))} at {seen.pool.protocol}")
        if not held:
            words.append("no position: add liquidity, swap for what is missing")
        elif any(not each.position.is_in_range for each in held):
            words.append("position out of range: remove liquidity and open anew")
        else:
            words.append("position in range: collect fees")
    elif symbols:
        words.append(f"holds {' and '.join(symbols[:6])}")
    if state.debts:
        words.append("debt at a lender")
    if state.waits:
        words.append(f"refused before: {', '.join(sorted({wait.code for wait in state.waits.values()}))}")
    return "; ".join(words)
