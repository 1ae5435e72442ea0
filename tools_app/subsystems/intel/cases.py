"""What the `intel_*` reads tell of the local chain."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import ReadCase

READS: Final = (
    ReadCase(
        "intel_get_chain_status",
        {},
        {
            "chain_id": lambda look: look.chain_id,
            "block_number": lambda look: look.block,
            "markets.#": 1,
        },
        refuses=(({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED"),),
    ),
)
