"""What an account gains or loses is said in units of what it is, also where that is a numbered token."""

from __future__ import annotations

from permits_app.permits.balance_deltas import describe_deltas
from tools_app.wording.address_names import find_token

POSITIONS = "0xC36442b4a4522E871399CD717aBDD847Ab11FE88"
NOBODYS = "0x" + "7b" * 20


def test_a_position_is_said_by_its_contract_and_what_nobody_knows_by_its_address() -> None:
    usdc = find_token(1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
    assert usdc is not None
    rows = describe_deltas({usdc.address: -5_000_000, POSITIONS: 1, NOBODYS: -2}, {usdc.address: usdc}, chain_id=1)
    said = [row["units"] for row in rows]
    assert said[0] == "-5 USDC"
    assert said[1].startswith("1 of ") and "osition" in said[1]
    assert said[2] == f"-2 of {NOBODYS}"
    assert [row["raw"] for row in rows] == ["-5000000", "1", "-2"]
