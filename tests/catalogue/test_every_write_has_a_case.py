"""Whoever adds a tool that sends something says beside it, as a case, what it does; and every name answers."""

from __future__ import annotations

import pytest

from tests.catalogue.declared_refusals import is_declared, list_declared, list_unknown_tokens
from tests.catalogue.lenders_lied_about import LENDERS
from tests.catalogue.shelf import CHAIN_ID, load_cases, load_reads
from tools_app.toolkit.case import Case, ReadCase
from tools_app.toolkit.protocol import SHELF, Trait
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool, WriteTool

NAMES = {
    "write": (
        *("aave_supply", "aave_withdraw", "aave_borrow", "aave_repay", "aave_enable_collateral"),
        *("aave_disable_collateral", "aave_supply_collateral"),
        *("morpho_supply_market", "morpho_withdraw_market", "morpho_borrow_market", "morpho_repay_market"),
        *("morpho_liquidate", "maker_open_vault", "maker_deposit_collateral", "maker_generate_dai"),
        *("maker_close_vault", "lending_unwind_loop", "lending_auto_deleverage", "lending_flash_loan"),
        *("lending_execute_leverage_loop", "lido_stake", "lido_unstake", "lido_wrap", "lido_unwrap"),
        *("lido_request_withdrawal", "lido_claim_withdrawal", "lido_harvest_yield", "lido_stake_eth"),
        *("rocketpool_stake", "rocketpool_unstake", "rocketpool_deposit_eth"),
    ),
    "read": (
        *("aave_get_health_factor", "aave_get_rates", "aave_get_user_summary", "aave_get_liquidation_risk"),
        *("morpho_get_market_info", "morpho_get_user_position", "lending_build_loop", "lending_get_loop_health"),
        *("lending_compare_rates", "lending_get_health_dashboard", "lido_get_position", "lido_get_rates"),
        *("lido_get_oracle_status", "lido_exit_decision", "rocketpool_get_position", "rocketpool_get_rates"),
        "rocketpool_get_operators",
    ),
}
"""Every name under which lending and staking are asked for, aliases included."""
SIGNED_ALONE = {
    "uniswap_submit_uniswapx_order": "test_a_limit_order_is_signed_handed_in_and_filled_by_a_stranger",
    "pendle_place_limit_order": (
        "test_an_order_is_signed_handed_in_and_filled_by_a_stranger_for_no_less_than_was_told"
    ),
    "pendle_place_yt_bid": "test_it_is_signed_handed_in_and_filled_once_by_a_stranger_for_no_less_than_was_told",
    "x402_pay": "test_a_payment_is_signed_settled_by_a_stranger_once_and_stands_in_the_audit_log",
    "x402_cancel_payment": "test_a_payment_that_is_taken_back_is_settled_by_nobody_and_frees_what_it_held",
    "metamask_redelegate": "test_a_part_of_a_runway_is_handed_on_taken_by_its_key_once_and_told",
    "metamask_disable_redelegation": "test_what_was_handed_on_is_taken_back",
    "pendle_cancel_limit_order": "test_an_order_that_is_taken_back_is_filled_by_nobody_and_frees_what_it_held",
}
"""Writes that send nothing, or take back what was signed, so that a case has nothing to carry out; and the test that
carries them to their end.
"""
WITH_CASES = ("tools_app.protocols.", "tools_app.subsystems.")
"""Where the tools live that stand on the shelf; a wallet's own writes are judged with the wallet."""
READS_WITH_CASES = (*WITH_CASES, "permits_app.tools.")


def list_reads() -> set[str]:
    """The read tools of the shelf."""
    return {
        tool.name
        for tool in REGISTRY
        if isinstance(tool, ReadTool) and tool.handler.__module__.startswith(READS_WITH_CASES)
    }


def list_writes() -> set[str]:
    """The write tools of the shelf."""
    return {
        tool.name for tool in REGISTRY if isinstance(tool, WriteTool) and tool.handler.__module__.startswith(WITH_CASES)
    }


def test_every_write_of_the_shelf_has_a_case_and_every_case_a_write() -> None:
    told = {filed.case.tool for filed in load_cases().values()}
    assert list_writes() - told == SIGNED_ALONE.keys(), "write a case in the cases.py of its folder"
    assert told - list_writes() == set()
    assert len(list_writes()) >= 35


def test_every_read_of_the_shelf_has_a_case_that_tells_and_refuses() -> None:
    cases = [case for filed in load_reads().values() for case in filed.cases]
    told = {case.tool for case in cases}
    assert list_reads() - told == set(), "write a ReadCase in the cases.py of its folder"
    assert told - list_reads() == set()
    assert all(case.tells for case in cases)
    takes = {tool for tool in told if not any(list_declared(REGISTRY.get(tool)))}
    takes = {tool for tool in takes if REGISTRY.get(tool).params_model.model_fields}
    assert takes - {case.tool for case in cases if case.refuses} == set(), "say what it refuses"
    names = [case.id for case in cases]
    assert len(names) == len(set(names))
    assert {name for case in cases for name in case.after} <= load_cases().keys()


def test_no_case_says_once_more_what_its_tool_declares() -> None:
    cases = [filed.case for filed in load_cases().values()]
    reads = [case for filed in load_reads().values() for case in filed.cases]
    both: list[Case | ReadCase] = [*cases, *reads]
    again = [
        (case.id, dict(changes), code)
        for case in both
        for changes, code in case.refuses
        if is_declared(REGISTRY.get(case.tool), changes, code)
        or (isinstance(case, ReadCase) and (changes, code) in list_unknown_tokens(REGISTRY.get(case.tool), case.params))
    ]
    assert again == [], "every tool is held to these: tests/tools_app/test_edges_of_parameters.py"


def test_every_case_names_cases_that_exist_and_gives_its_reasons() -> None:
    cases = load_cases()
    for name, filed in cases.items():
        assert set(filed.case.after) <= cases.keys(), name
        assert all(len(reason) > 20 for reason in filed.case.meaningless.values()), name


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_a_name_of_lending_or_staking_leads_to_its_tool(kind: str, name: str) -> None:
    load_cases()
    tool = REGISTRY.get(name)
    assert isinstance(tool, WriteTool if kind == "write" else ReadTool)
    assert tool.supports_chain(CHAIN_ID)
    if isinstance(tool, WriteTool):
        assert tool.name in {filed.case.tool for filed in load_cases().values()}


def test_the_names_are_the_48_that_are_asked_for() -> None:
    names = [name for each in NAMES.values() for name in each]
    assert len(names) == len(set(names)) == 48


def test_a_node_lies_about_health_at_every_lender_of_the_shelf() -> None:
    lenders = {each.name for each in SHELF if each.lending is not None or Trait.LEVERAGE in each.traits}
    assert lenders == {lender.world for lender in LENDERS.values()} - {"aave_v3_6"}
