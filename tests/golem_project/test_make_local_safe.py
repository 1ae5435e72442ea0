"""`manage.py make_local_safe`: a real Safe of the owners named, with funds; keys stay with their owners."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from golem_project.proof.caged.engines import CHAIN_ID, make_account
from permits_app.approvals.safe_view import open_chain, read_safe
from tests.evm.world import World
from tools_app.core import clock

ANNA, BERT = (make_account(name).address for name in ("anna", "bert"))


def make(owners: list[str], threshold: int) -> str:
    out = io.StringIO()
    call_command("make_local_safe", *(f"--owner={owner}" for owner in owners), f"--threshold={threshold}", stdout=out)
    return out.getvalue().strip()


def test_it_is_a_safe_of_these_owners_with_funds(local_chain: World) -> None:
    address = make([ANNA, BERT.lower()], 2)
    safe = read_safe(open_chain(CHAIN_ID, now=clock.now()), address)
    assert (set(safe.owners), safe.threshold, safe.nonce) == ({ANNA, BERT}, 2, 0)
    usdc = local_chain.tokens["USDC"].address
    held = local_chain.rpc.read(usdc, "balanceOf(address)", address, returns="(uint256)")
    assert int(held[0] if isinstance(held, list | tuple) else held) == 20_000 * 10**6


@pytest.mark.parametrize(
    ("owners", "threshold"), [([ANNA], 2), ([ANNA], 0), ([ANNA, ANNA], 1), (["not an address"], 1)]
)
def test_what_is_no_quorum_is_refused(local_chain: World, owners: list[str], threshold: int) -> None:
    with pytest.raises(CommandError, match="threshold|an address"):
        make(owners, threshold)


def test_without_a_local_chain_it_says_how_to_start_one() -> None:
    with pytest.raises(CommandError, match="make run"):
        make([ANNA], 1)
