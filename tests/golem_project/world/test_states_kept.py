"""How much of its past the local chain keeps, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.keep_chain_on_disk import ask
from golem_project.embedded.world.node import BLOCKS_WITH_STATE

SOMEBODY = "0x00000000000000000000000000000000000000Aa"


def test_a_long_chain_writes_no_states_to_disk_and_still_knows_the_balances_of_recent_blocks(
    tmp_path: Path,
) -> None:
    kept = EmbeddedChain(tmp_path / "chain")
    kept.start()
    try:
        begun = int(ask(kept.port, "eth_blockNumber"), 16)
        ask(kept.port, "anvil_mine", hex(BLOCKS_WITH_STATE + 50))
        head = int(ask(kept.port, "eth_blockNumber"), 16)
        assert head == begun + BLOCKS_WITH_STATE + 50
        assert int(ask(kept.port, "eth_getBalance", SOMEBODY, hex(head - BLOCKS_WITH_STATE // 2)), 16) == 0
        with pytest.raises(EmbeddedError):
            ask(kept.port, "eth_getBalance", SOMEBODY, hex(head - BLOCKS_WITH_STATE - 10))
        assert not list(kept.data_dir.glob(".foundry/**/*.json"))
    finally:
        kept.stop()
