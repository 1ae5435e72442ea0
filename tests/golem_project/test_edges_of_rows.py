"""What the database refuses by a number, at the number and beside it, asked of the very columns and constraints.

A table without rows is made like each of the product's; a column that is not spoken of is left empty there, which no
constraint refuses. The numbers are written here once more, by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import DataError, IntegrityError, connection, models, transaction

from tests.architecture.sources import PACKAGES

Row = Mapping[str, Any]
T: Final = datetime(2026, 11, 26, tzinfo=UTC)
TICK: Final = timedelta(microseconds=1)
ID: Final = "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"
BEYOND: Final = ("__gt", "__gte", "__lt", "__lte", "__range")


def _between(column: str, least: int | None, most: int | None, **beside: Any) -> tuple[list[Row], list[Row]]:
    """Rows that are taken and rows that are refused."""
    taken: list[Row] = [{**beside, column: edge} for edge in (least, most) if edge is not None]
    steps = ((least, -1), (most, 1))
    refused: list[Row] = [{**beside, column: edge + step} for edge, step in steps if edge is not None]
    return taken, refused


def _in_order(earlier: str, later: str, *, may_be_equal: bool) -> tuple[list[Row], list[Row]]:
    first = T if may_be_equal else T + TICK
    return [{earlier: T, later: first}], [{earlier: T, later: first - TICK}]


def _at_most(part: str, whole: str) -> tuple[list[Row], list[Row]]:
    return [{part: 7, whole: 7}], [{part: 8, whole: 7}]


MILLIONTHS: Final = 1_000_000
REVERSAL: Final = {"state": "REVERSED", "settled_micro_usd": -1, "reverses_id": 1}
LIMITS: Final = ("per_transaction", "per_tick", "per_session", "per_day", "hot_lane")
EDGES: Final[Mapping[str, tuple[list[Row], list[Row]]]] = {
    "known_position_seen_in_order": _in_order("first_seen", "last_seen", may_be_equal=True),
    "standing_plan_of_something": (
        [{"amount_raw": 1, "every_hours": 1, "times": 1}],
        [
            {"amount_raw": 0, "every_hours": 1, "times": 1},
            {"amount_raw": 1, "every_hours": 0, "times": 1},
            {"amount_raw": 1, "every_hours": 1, "times": 0},
        ],
    ),
    "standing_plan_share_of_its_kind": (
        [{"kind": "purchase"}, {"kind": "rebalance", "share_percent": 1}, {"kind": "rebalance", "share_percent": 99}],
        [{"kind": "rebalance", "share_percent": 0}, {"kind": "rebalance", "share_percent": 100}],
    ),
    "payment_host_caps_in_order": (
        [{"most_raw": 1, "most_a_day_raw": 1}, {"most_raw": 7, "most_a_day_raw": 8}],
        [{"most_raw": 0, "most_a_day_raw": 8}, {"most_raw": 8, "most_a_day_raw": 7}],
    ),
    "log_gap_in_order": _at_most("from_block", "to_block"),
    "position_search_in_order": _at_most("lowest", "highest"),
    "tool_definition_version_from_one": _between("version", 1, None),
    "action_wish_ends": _in_order("created_at", "expires_at", may_be_equal=False),
    "api_key_expires_later": _in_order("created_at", "expires_at", may_be_equal=False),
    "agent_sign_in_ends_later": _in_order("asked_at", "ends_at", may_be_equal=False),
    "api_key_loads_at_most_its_tools": (
        [{"most_tools": 2, "loaded_tools": ["a", "b"]}],
        [{"most_tools": 1, "loaded_tools": ["a", "b"]}],
    ),
    "a2a_read_price_in_range": _between("price_micro_usdc", 1, 1_000_000_000),
    "sold_answer_for_something": _between("raw", 1, None, state="TAKEN", lease_until=T),
    "service_access_quota_range": _between("questions_an_hour", 1, 10_000),
    "service_access_within_quota": _at_most("asked", "questions_an_hour"),
    "golem_ttl_5_to_3600": _between("permit_ttl_seconds", 5, 3_600),
    "cage_shares_of_what_can_fail": (
        [{f"max_{each}_bps": 10_000 for each in ("issuer", "bridge", "oracle")}],
        [
            {**{f"max_{each}_bps": 10_000 for each in ("issuer", "bridge", "oracle")}, f"max_{over}_bps": 10_001}
            for over in ("issuer", "bridge", "oracle")
        ],
    ),
    "artifact_is_confident": _between("confidence_percent", 60, 100),
    "artifact_price_in_range": _between("price_micro_usd", 50_000, 500_000),
    "artifact_has_sources": ([{"episode_sources": [ID]}], [{"episode_sources": []}]),
    "artifact_support_of_total": _at_most("support", "total"),
    "model_spend_within_the_cap": (
        [{"cap_micro_usd": 7, "reserved_micro_usd": 3, "spent_micro_usd": 4}],
        [{"cap_micro_usd": 6, "reserved_micro_usd": 3, "spent_micro_usd": 4}],
    ),
    "heartbeat_interval_30_to_120": _between("base_interval_seconds", 30, 120),
    "heartbeat_began_what_it_got": _at_most("begun_fence", "fence"),
    "decision_error_at_most_one": _between("prediction_error", None, MILLIONTHS),
    **{
        f"vitality_record_{name}": _between(name, 0, MILLIONTHS)
        for name in ("economic", "epistemic", "stochastic", "value", "hazard_millionths")
    },
    "vitality_record_budget_positive": _between("starting_budget_micro_usd", 1, None),
    "vitality_record_correct_within_made": _at_most("correct_predictions", "predictions"),
    "vitality_record_ticks_in_order": _at_most("since_tick", "heartbeat_tick"),
    "directive_version_from_1": _between("version", 1, None),
    "strategy_version_from_1": _between("version", 1, None),
    "episode_stability_positive": ([{"stability_days": 1e-9}], [{"stability_days": 0}]),
    "insight_stability_positive": ([{"stability_days": 1e-9}], [{"stability_days": 0}]),
    "insight_confidence_at_most_100": _between("confidence_percent", None, 100),
    "insight_factor_only_tightens": (
        [
            {"factor_bps": 5_000, "parameter": "slippage_bps"},
            {"factor_bps": 10_000, "parameter": "slippage_bps"},
            {"factor_bps": 15_000, "parameter": "deadline"},
        ],
        [
            {"factor_bps": 4_999, "parameter": "slippage_bps"},
            {"factor_bps": 10_001, "parameter": "slippage_bps"},
            {"factor_bps": 4_999, "parameter": "deadline"},
            {"factor_bps": 15_001, "parameter": "deadline"},
        ],
    ),
    "insight_heuristic_has_episodes": (
        [{"kind": "HEURISTIC", "episode_ids": [ID] * 5}],
        [{"kind": "HEURISTIC", "episode_ids": [ID] * 4}],
    ),
    "change_needs_somebody": _between("required_approvals", 1, None),
    "change_value_not_negative": _between("value_micro_usd", 0, None),
    "death_due_when_announced": _in_order("announced_at", "due_at", may_be_equal=True),
    "high_water_mark_not_negative": _between("value_micro_usd", 0, None),
    "nav_snapshot_debt_not_negative": _between("debt_micro_usd", 0, None),
    "declared_peg_within_half": _between("most_apart_bps", 10, 5_000),
    "halt_loses_a_part": _between("most_loss_bps", 1, 5_000),
    "alike_calls_in_window": _between("most_alike_calls", 1, 20),
    "owner_budget_not_negative": _between("per_day_micro_usd", 0, None),
    "records_kept_long_enough": _between("days", 90, None),
    "tick_archive_in_order": (
        [{"first_tick": 3, "last_tick": 3}, {"first_tick": 3, "last_tick": 4}],
        [{"first_tick": 4, "last_tick": 3}],
    ),
    "audit_archive_in_order": (
        [{"first_seq": 1, "last_seq": 1}, {"first_seq": 3, "last_seq": 4}],
        [{"first_seq": 0, "last_seq": 4}, {"first_seq": 4, "last_seq": 3}],
    ),
    "record_archive_in_order": _in_order("first_created_at", "last_created_at", may_be_equal=True),
    "permit_value_not_negative": _between("value_micro_usd", 0, None),
    "spending_limits_not_negative": (
        [{f"{name}_micro_usd": 0} for name in LIMITS],
        [{f"{name}_micro_usd": -1} for name in LIMITS],
    ),
    "trading_costs_not_negative": (
        [{f"trading_costs_per_{name}_micro_usd": 0} for name in ("day", "pair", "venue")],
        [{f"trading_costs_per_{name}_micro_usd": -1} for name in ("day", "pair", "venue")],
    ),
    "spend_cost_not_negative": (
        [{"cost_micro_usd": 0, "state": "RESERVED"}, {"cost_micro_usd": -1, **REVERSAL}],
        [{"cost_micro_usd": -1, "state": "RESERVED"}, {"cost_micro_usd": 1, **REVERSAL}],
    ),
    "pending_request_spent_when_ended": (
        [{"holds_micro_usd": 0}, {"holds_micro_usd": 0, "spent_micro_usd": 0, "ended_at": T}],
        [
            {"holds_micro_usd": -1},
            {"holds_micro_usd": 0, "spent_micro_usd": -1, "ended_at": T},
            {"holds_micro_usd": 0, "spent_micro_usd": 0},
        ],
    ),
    "health_alert_above_liquidation": _between("min_health_bps", 10_001, 1_000_000),
    "received_right_of_something": _between("most", 1, None),
    "received_right_ends_after_begin": _in_order("starts_at", "ends_at", may_be_equal=False),
    "right_use_of_something": _between("raw", 1, None),
    "spend_reserved_not_negative": _between("reserved_micro_usd", 0, None),
    "spend_settled_not_negative": _between("settled_micro_usd", 0, None, state="SETTLED"),
    "spend_reversal_names_what_it_reverses": _between("settled_micro_usd", None, 0, state="REVERSED", reverses_id=1),
    "standing_worth_not_negative": _between("worth_micro_usd", 0, None),
    "announcement_in_order": (
        [{"announced_at": T, "executes_at": T, "expires_at": T + TICK}],
        [
            {"announced_at": T, "executes_at": T - TICK, "expires_at": T + TICK},
            {"announced_at": T, "executes_at": T, "expires_at": T},
        ],
    ),
    "a2a_challenge_ends_later": _in_order("created_at", "expires_at", may_be_equal=False),
    "alert_channel_quiet_hours_are_both_or_none": (
        [{"quiet_from": 1_439, "quiet_until": 1_439}],
        [{"quiet_from": 1_440, "quiet_until": 1_439}, {"quiet_from": 1_439, "quiet_until": 1_440}],
    ),
    "alert_channel_digest_a_day": _between("digest_minutes", None, 1_440),
    "confirmation_mails_a_day": (
        [{"number_of_address": 2, "number_of_person": 9}],
        [{"number_of_address": 3, "number_of_person": 9}, {"number_of_address": 2, "number_of_person": 10}],
    ),
}


def _list_models() -> list[type[models.Model]]:
    return [each for each in apps.get_models() if each.__module__.split(".")[0] in PACKAGES and each._meta.managed]


def _find_constraints() -> dict[str, type[models.Model]]:
    """Every constraint of a row that holds a figure to a figure, with its model."""
    return {
        constraint.name: model
        for model in _list_models()
        for constraint in model._meta.constraints
        if isinstance(constraint, models.CheckConstraint)
        and any(order in str(constraint.condition) for order in BEYOND)
    }


def _make_probe(table: str, *, has_constraints: bool) -> None:
    kept = "INCLUDING CONSTRAINTS" if has_constraints else ""
    with connection.cursor() as cursor:
        cursor.execute(f'DROP TABLE IF EXISTS probe; CREATE TEMPORARY TABLE probe (LIKE "{table}" {kept})')
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'pg_temp.probe'::regclass AND attnotnull AND attnum > 0"
        )
        for (column,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE probe ALTER COLUMN "{column}" DROP NOT NULL')


def _refusal(row: Row) -> str | None:
    """What a row is refused by, None when it is taken."""
    columns, places = ", ".join(f'"{name}"' for name in row), ", ".join(["%s"] * len(row))
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO probe ({columns}) VALUES ({places})", list(row.values()))
    except (IntegrityError, DataError) as error:
        return str(error)
    return None


def test_every_constraint_that_holds_a_figure_to_a_figure_has_its_edges_here() -> None:
    assert set(_find_constraints()) == set(EDGES)


@pytest.mark.django_db
@pytest.mark.parametrize("name", EDGES)
def test_a_row_is_taken_up_to_the_edge_of_its_constraint_and_refused_beyond(name: str) -> None:
    _make_probe(_find_constraints()[name]._meta.db_table, has_constraints=True)
    taken, refused = EDGES[name]
    assert [_refusal(row) for row in taken] == [None] * len(taken)
    assert ["violates check constraint" in str(_refusal(row)) for row in refused] == [True] * len(refused)


@pytest.mark.django_db
def test_a_text_is_as_long_as_its_column_says_and_no_letter_longer() -> None:
    asked = 0
    for model in _list_models():
        texts = [each for each in model._meta.concrete_fields if isinstance(each, models.CharField)]
        if texts:
            _make_probe(model._meta.db_table, has_constraints=False)
        for field in texts:
            longest = field.max_length
            assert longest is not None
            assert _refusal({str(field.column): "x" * longest}) is None, field
            assert "too long" in str(_refusal({str(field.column): "x" * (longest + 1)})), field
            asked += 1
    assert asked > 250
