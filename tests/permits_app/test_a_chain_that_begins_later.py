"""A chain that is begun once a golem uses it: offered, ticked, reached, followed, and given test money."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.models import ChainWatch
from permits_app.tasks import start_followers
from tests.evm.world import CHAIN_ID, World
from tests.factories import make_owner
from tests.live_golem import LiveGolem
from tests.permits_app.execution.test_chain_follower import wait_until_nobody_follows
from tests.permits_app.test_several_chains import pay_on, refused, save_chains
from tests.second_chain import SECOND_ID, wire
from tools_app.toolkit.golem_chains import list_chains

DAI = 10**18


def _own(live: LiveGolem) -> Any:
    """The golem's owner, who may open every page."""
    live.owner.is_superuser = live.owner.is_staff = True
    live.owner.save()
    return live.owner


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


def _balance(world: World, symbol: str, account: str | None) -> int:
    return int(world.rpc.read(world.tokens[symbol].address, "balanceOf(address)", account, returns="(uint256)")[0])


def test_a_chain_that_is_begun_later_is_offered_ticked_and_used_once_it_runs(
    spread_golem: LiveGolem, both_chains: tuple[World, World], client: Client, settings: Any, tmp_path: Path
) -> None:
    golem, file = spread_golem.golem, tmp_path / "second.url"
    Golem.objects.filter(pk=golem.pk).update(other_chain_ids=[])
    settings.GOLEM_CHAINS_BEGUN_LATER = {SECOND_ID: file}
    wire(settings, {CHAIN_ID: os.environ["GOLEM_RPC_URL_31337"]})
    client.force_login(_own(spread_golem))
    page = client.get(reverse("admin:archetypes_app_golem_settings", args=[golem.pk])).content.decode()
    assert "Second local chain (31338), begins when it is ticked" in page
    save_chains(client, golem, [SECOND_ID])
    golem.refresh_from_db()
    assert list_chains(golem) == (CHAIN_ID, SECOND_ID)
    assert refused(lambda: pay_on(spread_golem, SECOND_ID)).code in ("CHAIN_NOT_SUPPORTED", "CHAIN_NOT_COUNTED")
    page = client.get(reverse("admin:archetypes_app_golem_settings", args=[golem.pk])).content.decode()
    assert "Second local chain" in page
    file.write_text(both_chains[1].rpc_url)
    both_chains[1].fund(golem.address, 10**18, {"DAI": 100 * DAI})
    permit = pay_on(spread_golem, SECOND_ID)
    assert spread_golem.commit(permit["permit_id"])["status"] == "COMMITTED"


def test_test_money_comes_on_every_local_chain_of_the_golem_and_on_no_other(
    spread_golem: LiveGolem, both_chains: tuple[World, World], client: Client
) -> None:
    golem = spread_golem.golem
    client.force_login(_own(spread_golem))
    had = [_balance(world, "USDC", golem.address) for world in both_chains]
    client.post(reverse("faucet", args=[golem.pk]))
    now = [_balance(world, "USDC", golem.address) for world in both_chains]
    assert [after - before for after, before in zip(now, had, strict=True)] == [15_000 * 10**6] * 2
    Golem.objects.filter(pk=golem.pk).update(other_chain_ids=[])
    client.post(reverse("faucet", args=[golem.pk]))
    assert _balance(both_chains[1], "USDC", golem.address) == now[1]
    stranger = make_owner(name="stranger")
    client.force_login(stranger)
    assert client.post(reverse("faucet", args=[golem.pk])).status_code in (403, 404)


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_on_a_chain_that_began_later_is_followed_from_then_on(
    both_chains: tuple[World, World], settings: Any, tmp_path: Path
) -> None:
    file = tmp_path / "second.url"
    settings.GOLEM_CHAINS_BEGUN_LATER = {SECOND_ID: file}
    wire(settings, {CHAIN_ID: os.environ["GOLEM_RPC_URL_31337"]})
    following = start_followers()
    try:
        _wait_for(lambda: ChainWatch.objects.filter(chain_id=CHAIN_ID).exclude(owner="").exists())
        assert not ChainWatch.objects.filter(chain_id=SECOND_ID).exists()
        file.write_text(both_chains[1].rpc_url)
        _wait_for(lambda: ChainWatch.objects.filter(chain_id=SECOND_ID).exclude(owner="").exists())
    finally:
        following.stop()
        wait_until_nobody_follows()
