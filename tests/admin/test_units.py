"""What people type and read: dollars, percent, addresses, amounts, ages, call data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from permits_app.forms import PercentField, UsdField, clean_checksum
from tools_app.chain.abi import encode_call
from tools_app.pages.html import show_badge, show_hex
from tools_app.wording.address_names import format_token_amount, known_deployment, list_tokens, name_addresses
from tools_app.wording.decoded_calls import decode_call
from tools_app.wording.formats import format_age, format_bps, format_gwei, group_digits, shorten_amount

CHAIN_ID = 31337
NOW = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "micro"),
    [("10,000.00", 10_000_000_000), ("$2,500", 2_500_000_000), ("0.000001", 1), ("0", 0), (" 1,000.5 ", 1_000_500_000)],
)
def test_dollars_are_stored_as_integer_micro_usd(typed: str, micro: int) -> None:
    assert UsdField().clean(typed) == micro


@pytest.mark.parametrize("typed", ["-1", "1e6", "nan", "inf", "ten", "0.0000001", "1000000000001", ""])
def test_what_is_no_amount_of_dollars_is_refused(typed: str) -> None:
    with pytest.raises(ValidationError):
        UsdField().clean(typed)


@given(st.integers(min_value=0, max_value=10**18))
def test_dollars_survive_being_shown_and_typed_again(micro: int) -> None:
    field = UsdField()
    assert field.clean(field.prepare_value(micro)) == micro


@given(st.integers(min_value=0, max_value=10_000))
def test_percent_survives_being_shown_and_typed_again(bps: int) -> None:
    field = PercentField()
    assert field.clean(field.prepare_value(bps)) == bps


@pytest.mark.parametrize("typed", ["101", "-1", "0.005", "much", "nan"])
def test_what_is_no_percentage_is_refused(typed: str) -> None:
    with pytest.raises(ValidationError):
        PercentField().clean(typed)


def test_an_address_in_any_single_case_is_put_in_eip55_form() -> None:
    proper = list_tokens(CHAIN_ID)[0].address
    assert clean_checksum(proper.lower()) == proper
    assert clean_checksum(proper) == proper


def test_a_mistyped_checksum_is_refused() -> None:
    proper = list_tokens(CHAIN_ID)[0].address
    index = next(i for i, letter in enumerate(proper) if i > 1 and letter.isalpha())
    with pytest.raises(ValidationError):
        clean_checksum(proper[:index] + proper[index].swapcase() + proper[index + 1 :])


@pytest.mark.parametrize(
    ("exact", "short"),
    [
        ("0.166582930146804025 WETH", "0.166583 WETH"),
        ("+0.166582930146804025 WETH", "+0.166583 WETH"),
        ("-0.00000571693281 ETH", "-0.00000571693 ETH"),
        ("500 USDC", "500 USDC"),
        ("0 ETH", "0 ETH"),
    ],
)
def test_a_long_amount_is_shortened_without_losing_its_size(exact: str, short: str) -> None:
    assert shorten_amount(exact) == short


def test_digits_are_grouped_before_the_point_only() -> None:
    assert group_digits("-1234567.891234 USDC") == "-1,234,567.891234 USDC"


def test_ages_name_the_largest_whole_unit() -> None:
    assert format_age(NOW - timedelta(seconds=12), now=NOW) == "12 s ago"
    assert format_age(NOW + timedelta(seconds=42), now=NOW) == "in 42 s"
    assert format_age(NOW - timedelta(hours=25), now=NOW) == "1 d ago"


def test_gas_prices_and_basis_points_have_units() -> None:
    assert format_gwei("1000000007") == "1.000000007 gwei"
    assert format_bps(7) == "0.07%"


def test_a_token_nobody_registered_is_shown_in_base_units_and_says_so() -> None:
    assert "base units" in format_token_amount(CHAIN_ID, "0x" + "12" * 20, 5)


def test_text_from_outside_is_escaped() -> None:
    assert "<script>" not in show_badge("<script>alert(1)</script>")
    assert "<script>" not in show_hex("0x<script>alert(1)</script>", name="<script>")


def test_a_batch_is_opened_and_its_amounts_are_in_units() -> None:
    tokens = {token.symbol: token for token in list_tokens(CHAIN_ID)}
    deployment = known_deployment(CHAIN_ID)
    assert deployment is not None
    swap = encode_call(
        "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
        (tokens["WETH"].address, tokens["USDC"].address, 500, tokens["DAI"].address, 10**18, 2_500 * 10**6, 0),
    )
    batch = encode_call("function multicall(uint256,bytes[])", 1_800_000_000, [swap])
    router = deployment.contracts["uniswap_v3_swap_router_02"]
    call = decode_call({"to": router, "data": "0x" + batch.hex(), "value": "0", "label": "Swap"}, chain_id=CHAIN_ID)
    told = {argument.name: argument.text for argument in call.inner[0].arguments}
    assert (call.function, call.to_name, call.inner[0].function) == (
        "multicall",
        "Uniswap V3 swap router 02",
        "exactInputSingle",
    )
    assert told["amount in"] == "1 WETH"
    assert told["amount out minimum"] == "2500 USDC"
    assert told["fee tier"] == "0.05%"


def test_a_path_names_its_tokens_and_fees() -> None:
    tokens = {token.symbol: token.address for token in list_tokens(CHAIN_ID)}
    path = bytes.fromhex(tokens["USDC"][2:]) + (500).to_bytes(3, "big") + bytes.fromhex(tokens["WETH"][2:])
    data = encode_call("function exactInput((bytes,address,uint256,uint256))", (path, tokens["DAI"], 10**6, 1))
    call = decode_call({"to": tokens["DAI"], "data": "0x" + data.hex()}, chain_id=CHAIN_ID)
    told = {argument.name: argument.text for argument in call.arguments}
    assert told["path"] == "USDC → 0.05% → WETH"
    assert told["amount in"] == "1 USDC"


@given(st.binary(max_size=200))
def test_no_call_data_breaks_the_page(data: bytes) -> None:
    call = decode_call({"to": "0x" + "ab" * 20, "data": "0x" + data.hex()}, chain_id=CHAIN_ID)
    assert call.data_bytes == len(data)


@given(st.sampled_from(["a9059cbb", "095ea7b3", "5ae401dc", "04e45aaf", "b858183f"]), st.binary(max_size=300))
def test_a_known_selector_with_nonsense_behind_it_is_still_named(selector: str, rest: bytes) -> None:
    call = decode_call({"to": "0x" + "ab" * 20, "data": f"0x{selector}{rest.hex()}"}, chain_id=CHAIN_ID)
    assert call.function


def test_addresses_in_a_sentence_become_names() -> None:
    token = list_tokens(CHAIN_ID)[1]
    assert name_addresses(f"Approve 5 for {token.address}.", CHAIN_ID) == f"Approve 5 for {token.symbol}."


def test_commands_of_the_universal_router_are_told_as_calls_and_an_unknown_one_keeps_its_number() -> None:
    tokens = {token.symbol: token for token in list_tokens(CHAIN_ID)}
    usdc, weth = tokens["USDC"].address, tokens["WETH"].address
    here, router = "0x" + "00" * 19 + "01", "0x" + "00" * 19 + "02"
    inputs = [
        encode(["address", "uint256"], [router, 10**18]),
        encode(
            ["address", "uint256", "uint256", "address[]", "bool"], [here, 10**18, 2_500 * 10**6, [weth, usdc], False]
        ),
        encode(["address", "address", "uint256"], [usdc, here, 5]),
        b"whatever",
    ]
    data = encode_call("function execute(bytes,bytes[],uint256)", b"\x0b\x88\x04\x3f", inputs, 1_800_000_000)
    call = decode_call({"to": "0x" + "12" * 20, "data": "0x" + data.hex()}, chain_id=CHAIN_ID)
    told = [{argument.name: argument.text for argument in inner.arguments} for inner in call.inner]

    assert [inner.function for inner in call.inner] == ["wrapETH", "v2SwapExactIn", "sweep", ""]
    assert told[0] == {"recipient": "the router", "amount wei": "1 ETH"}
    assert (told[1]["amount in"], told[1]["amount out minimum"]) == ("1 WETH", "2500 USDC")
    assert (told[1]["path"], told[1]["recipient"], told[1]["payer is user"]) == ("WETH → USDC", "the sender", "no")
    assert told[2] == {"token": "USDC", "recipient": "the sender", "amount minimum": "0.000005 USDC"}
    assert call.inner[3].selector == "0x0000003f"
    assert [argument.name for argument in call.arguments] == ["deadline"]
