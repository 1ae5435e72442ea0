"""`manage.py make_local_safe`: a real Safe of the owners named, with funds; keys stay with their owners."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from permits_app.custody.safe_view import open_chain, read_safe
from permits_app.models import PolicyCage
from tests.evm.world import World
from tests.proof.caged.engines import CHAIN_ID, make_account
from tools_app.core import clock
from tools_app.standards.erc20 import BALANCE_OF

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


def test_what_it_holds_is_within_the_cage_a_golem_gets(local_chain: World) -> None:
    address = make([ANNA], 1)
    chain = open_chain(CHAIN_ID, now=clock.now())

    def worth(token: Any, raw: int) -> int:
        price = chain.price(token)
        return raw * price.answer * 10**6 // 10 ** (token.decimals + price.decimals)

    held = {name: chain.call(chain.token(name).address, BALANCE_OF, address)[0] for name in ("USDC", "WETH")}
    ether = worth(chain.native(), chain.native_balance(address)) + worth(chain.token("WETH"), held["WETH"])
    total = ether + worth(chain.token("USDC"), held["USDC"])
    assert ether * 10_000 // total <= PolicyCage().max_concentration_bps


@pytest.mark.parametrize(
    ("owners", "threshold"), [([ANNA], 2), ([ANNA], 0), ([ANNA, ANNA], 1), (["not an address"], 1)]
)
def test_what_is_no_quorum_is_refused(local_chain: World, owners: list[str], threshold: int) -> None:
    with pytest.raises(CommandError, match="threshold|an address"):
        make(owners, threshold)


def test_without_a_local_chain_it_says_how_to_start_one() -> None:
    with pytest.raises(CommandError, match="make run"):
        make([ANNA], 1)
