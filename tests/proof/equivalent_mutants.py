"""Mutants that change nothing anyone could see, each with the reason: module -> name of the mutant -> why."""

from __future__ import annotations

_PREFILTER = "only narrows what is read from the index; the FILTER of each sum decides what counts"
_NO_SUCH_TIME = "no row is of that time, which closes a span for the planner alone"
_SAME_LENGTH = "both arrays are aggregated from the same rows; `strict` guards against a mistake in the statement alone"


_OF_THE_SAME_CALLS = "both lists are made of the same calls; `strict` guards against a mistake here alone"

_NO_KEY_TO_IT = "nothing refers to a row of limits by a key, so the stronger lock keeps nobody else out"

_NO_KEY_TO_A_MARK = "nothing refers to a mark by a key, so the stronger lock keeps nobody else out"

EQUIVALENT: dict[str, dict[str, str]] = {
    "permits_app.limits.ledger": {
        "_LOCKED_LIMITS: True -> False": _NO_KEY_TO_IT,
        "lock_limits: True -> False": _NO_KEY_TO_IT,
        "reopen: filter without reverses__isnull=True": "a reversal is stored with the life that follows it",
        "_LOCKED_LIMITS: 0 -> 1": "an example to write the statement with, which is the same for every golem",
        "USAGE_SQL: SQL '_key_id IS NULL AND counted_at > %(week_start)s AND counted_at': > -> >=": _PREFILTER,
        "USAGE_SQL: SQL 'AND heartbeat_tick > 0 AND heartbeat_tick = %(tick)': > -> >=": _PREFILTER,
        "USAGE_SQL: SQL \"%(hour_start)s AND created_at < 'infinity' AND status I\": < -> <=": _NO_SUCH_TIME,
    },
    "permits_app.execution.halt_signing_rule": {
        **dict.fromkeys(("is_halts_own: True -> False", "is_halts_own: True -> False (#2)"), _OF_THE_SAME_CALLS),
        "_owed_of: 0 -> 1 (#2)": "a token that is not there is owed no more for being held",
        "_read_seen: raw > 0 -> raw >= 0": "nothing adds to neither of both sums",
    },
    "permits_app.safety.arrival_rules": {
        "_sum_sold: 0 -> 1 (#2)": "it is taken below zero, and nothing of a negative amount is shown",
    },
    "permits_app.safety.bridge_rules": {
        "_judge_worth: sent.learn(flow.token) -> pass": "what has a feed is registered, and the book knows that itself",
    },
    "permits_app.safety.hooks.hallucination_detector": {
        "_is_checksum_address: 8192 -> 8193": "how many answers are kept decides nothing",
        "judge_look_alikes: 0 -> 1": "each known address stands for its own name, so both of the pair are the same",
    },
    "permits_app.safety.hooks.simulator": {
        "find_undeclared: 1 -> 2": "no right is smaller than nothing, so what is under nothing allows none",
        "SIMULATION_BUDGET_MS: 8000 -> 8001": "a millisecond more of patience with a node decides nothing",
    },
    "permits_app.safety.hooks.spending_limiter": {
        f"NOTHING_USED: 0 -> 1{place}": "a call that spends nothing is held against no usage"
        for place in ("", " (#2)", " (#3)", " (#4)")
    },
    "permits_app.safety.drawdown": {
        "_is_as_it_was: True -> False": "the lengths of both are compared before",
        "record_value: True -> False": _NO_KEY_TO_A_MARK,
    },
    "permits_app.safety.position_rules": {
        "_name_token: False -> True": "of a token that is named here only the symbol and the decimals are told",
        "judge_health: 0 -> 1 (#3)": "what remains is told in hundredths, and a ten-thousandth is none of them",
    },
    "permits_app.safety.load_call_records": {
        "_VENUE: SQL \"reaker_start)s AND finished_at < 'infinity' AND status IN ('COM\": < -> <=": _NO_SUCH_TIME,
        "_list_outcomes: True -> False": _SAME_LENGTH,
    },
}
