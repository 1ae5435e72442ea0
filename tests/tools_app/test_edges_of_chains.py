"""What reads of chains, protocols and modules take and refuse by a number, just below, at and just above it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from tools_app.chain.blocks import _cut
from tools_app.chain.http_pool import read_retry_after
from tools_app.chain.multicall import split_chunks
from tools_app.chain.running_code import find_cloned
from tools_app.chain.token_lists import _read_row
from tools_app.core.errors import GolemError
from tools_app.core.ratio import decimal_text
from tools_app.protocols.erc8004.math import ONE as RATING
from tools_app.protocols.erc8004.math import rate
from tools_app.protocols.erc8004.reads import count_passed
from tools_app.protocols.erc8004.registration_file import write_file
from tools_app.protocols.lido.positions import split_amount
from tools_app.protocols.morpho_blue.math import WAD, health_bps, incentive
from tools_app.protocols.rocketpool.positions import RocketPoolExits
from tools_app.protocols.uniswap.routing import _deepest
from tools_app.sandbox.errors import ModuleFailed
from tools_app.sandbox.owner_tool_call import _read_wish
from tools_app.subsystems.coding.paths import parse_path


@pytest.mark.parametrize(("blocks", "is_taken"), [(4_000, True), (4_001, False)])
def test_logs_are_searched_in_four_hundred_pieces_at_most(blocks: int, is_taken: bool) -> None:
    query: Any = SimpleNamespace(from_block=1, to_block=blocks)
    if is_taken:
        assert len(_cut(query, 10)) == 400
        return
    with pytest.raises(GolemError, match="at most 4000"):
        _cut(query, 10)


@pytest.mark.parametrize(("digits", "is_read"), [(9, True), (10, False)])
def test_a_pause_that_a_node_asks_for_has_nine_digits(digits: int, is_read: bool) -> None:
    assert (read_retry_after(b"1" * digits) is not None) is is_read


@pytest.mark.parametrize(("count", "sizes"), [(120, [120]), (121, [120, 1]), (119, [119])])
def test_reads_go_together_by_a_hundred_and_twenty(count: int, sizes: list[int]) -> None:
    keys: Any = list(range(count))
    assert [len(each) for each in split_chunks(keys)] == sizes


@pytest.mark.parametrize(("length", "is_read"), [(128, True), (129, False)])
def test_a_clone_is_looked_for_in_code_of_128_bytes(length: int, is_read: bool) -> None:
    clone = bytes.fromhex("363d3d373d3d3d363d73" + "11" * 20 + "5af43d82803e903d91602b57fd5bf3")
    assert (find_cloned(clone + bytes(length - len(clone))) is not None) is is_read


@pytest.mark.parametrize(("decimals", "is_read"), [(0, True), (36, True), (37, False), (-1, False)])
def test_a_listed_token_has_thirty_six_decimals_at_most(decimals: int, is_read: bool) -> None:
    row = {"address": "0x" + "11" * 20, "symbol": "A", "name": "A", "decimals": decimals, "chainId": 1}
    assert (_read_row(row) is not None) is is_read


def test_a_ratio_is_told_with_eighteen_digits() -> None:
    assert decimal_text(1, 3) == "0." + "3" * 18
    assert decimal_text(2, 3) == "0." + "6" * 18


@pytest.mark.parametrize(
    ("value", "decimals", "rating"),
    [
        (100, 0, RATING),
        (101, 0, None),
        (0, 0, 0),
        (-1, 0, None),
        (100 * 10**18, 18, RATING),
        (10, 19, None),
        (1, -1, None),
    ],
)
def test_a_rating_is_between_nothing_and_a_hundred_and_has_eighteen_decimals(
    value: int, decimals: int, rating: int | None
) -> None:
    assert rate(value, decimals) == rating


@pytest.mark.parametrize(("response", "passed"), [(49, 0), (50, 1), (51, 1), (None, 0)])
def test_a_validation_is_passed_from_fifty_on(response: int | None, passed: int) -> None:
    row: Any = SimpleNamespace(validator="0x1", response=response)
    assert count_passed([row]) == passed


@pytest.mark.parametrize(("size", "is_written"), [(4_096, True), (4_097, False)])
def test_a_file_that_is_written_on_a_chain_has_four_kilobytes(size: int, is_written: bool) -> None:
    document = {"a": "x" * (size - len(json.dumps({"a": ""}, separators=(",", ":"))))}
    if is_written:
        assert write_file(document)
        return
    with pytest.raises(GolemError, match="at most 4096"):
        write_file(document)


def test_a_withdrawal_is_twenty_requests_at_most_each_of_the_most_and_none_under_the_least() -> None:
    assert split_amount(20 * 10, 3, 10) == [10] * 20
    assert split_amount(20 * 10 + 3, 3, 10) == [10] * 20
    assert split_amount(13, 3, 10) == [10, 3] and split_amount(12, 3, 10) == [10]


def test_a_healthy_loan_has_a_health_that_fits() -> None:
    def health(debt: int) -> int | None:
        return health_bps(collateral=10**5 * debt, price=10**36, lltv=WAD, debt=debt)

    assert health(1) == 10**9
    assert health_bps(collateral=10**5 + 1, price=10**36, lltv=WAD, debt=1) == 10**9
    assert health_bps(collateral=10**5 - 1, price=10**36, lltv=WAD, debt=1) == 10**9 - 10_000


def test_a_liquidators_part_is_fifteen_percent_at_most() -> None:
    # 1 / (1 - 0.3 (1 - lltv)) reaches 1.15 where lltv is 13/23.
    edge = WAD * 13 // 23
    assert incentive(edge - 10**12) == 115 * 10**16
    assert 115 * 10**16 - 10**12 < incentive(edge + 10**12) < 115 * 10**16


@pytest.mark.parametrize(("ether", "is_left"), [(100, True), (101, False)])
def test_a_hundred_wei_of_rocket_pools_ether_are_nothing(ether: int, is_left: bool) -> None:
    position: Any = SimpleNamespace(
        legs=[SimpleNamespace(raw=ether)],
        facts={"r_eth": "1000", "collateral": str(10**18)},
        ref=SimpleNamespace(chain_id=1),
    )
    assert (RocketPoolExits().next_step(position, {}, 0) is None) is is_left


def test_two_pools_of_a_pair_are_asked() -> None:
    pools: Any = [
        SimpleNamespace(version="v3", token0="a", token1="b", liquidity=each, reserve0=0) for each in (1, 3, 2)
    ]
    assert [each.liquidity for each in _deepest(pools)] == [3, 2]


@pytest.mark.parametrize(("why", "is_taken"), [(500, True), (501, False)])
def test_a_wish_says_why_in_five_hundred_letters(why: int, is_taken: bool) -> None:
    told = {"action_type": "swap", "why": "w" * why}
    if is_taken:
        assert _read_wish(told).why == "w" * why
        return
    with pytest.raises(ModuleFailed, match="at most 500"):
        _read_wish(told)


@pytest.mark.parametrize(("size", "is_taken"), [(8_192, True), (8_193, False)])
def test_a_wishs_parameters_have_eight_kilobytes(size: int, is_taken: bool) -> None:
    params = {"a": "x" * (size - len(json.dumps({"a": ""})))}
    if is_taken:
        assert _read_wish({"action_type": "swap", "params": params}).params == params
        return
    with pytest.raises(ModuleFailed, match="at most 8192"):
        _read_wish({"action_type": "swap", "params": params})


@pytest.mark.parametrize(
    ("path", "is_taken"),
    [
        ("a" * 255, True),
        ("a" * 256, False),
        ("/".join("a" * 64), True),
        ("/".join("a" * 65), False),
        ("/".join(["a" * 200] * 4) + "/" + "b" * 196, True),
        ("/".join(["a" * 200] * 4) + "/" + "b" * 197, False),
    ],
)
def test_a_path_is_as_long_and_as_deep_as_it_may_be(path: str, is_taken: bool) -> None:
    if is_taken:
        assert "/".join(parse_path(path, root="/work")) == path
        return
    with pytest.raises(GolemError):
        parse_path(path, root="/work")
