"""Parts of a reservation survive their column: what is read is what was written."""

from __future__ import annotations

from permits_app.limits.reserved_parts import GAS, SPEND, ReservedPart, read_parts

USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"


def test_what_is_read_of_a_ledger_entry_is_what_was_written() -> None:
    parts = (
        ReservedPart(
            SPEND, 500_000_000, 500_000_000, USDC, "USDC", "500 USDC", "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6"
        ),
        ReservedPart(GAS, 310_000, 148_177_011_851_854),
    )
    rows = [part.as_json() for part in parts]
    assert read_parts(rows) == parts
    assert rows[1] == {"role": "gas", "raw": "148177011851854", "micro_usd": "310000"}
