"""An owner holds a second fence against the cage in a real browser, wide and on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.owner_group import ensure_owner_group
from permits_app.policy_cage.zodiac_roles_calls import ALLOW_FUNCTION
from tests.browser.conftest import PHONE, press
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.proof.heists.roles import install_roles
from tools_app.chain.abi import encode_call

pytestmark = pytest.mark.browser

ROLE = b"golem".ljust(32, b"\0")


@pytest.fixture
def caged(shared_golem: LiveGolem) -> CagedGolem:
    owner = shared_golem.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    return CagedGolem(shared_golem)


def test_an_owner_reads_what_a_second_fence_lacks_and_gets_the_file_that_mends_it(
    open_window: Any, caged: CagedGolem
) -> None:
    caged.safe.keep_up()
    roles = install_roles(caged.world.rpc, caged.safe.engine, safe=caged.safe.address)
    visit = open_window()
    visit.log_in(caged.live.owner.username)
    page = visit.open(f"/admin/archetypes_app/golem/{caged.live.golem.pk}/cage/")
    press(page.get_by_role("link", name="A second fence"))
    visit.shoot("fence")
    page.get_by_label("Roles contract").fill(roles)
    press(page.get_by_role("button", name="Compare"))
    visit.shoot("fence-lacks")
    text = page.inner_text("#content")
    assert "may not be called yet" in text and "swapExactTokensForTokens (0x38ed1739) at Uniswap V2 router" in text
    assert "the allowance of USDC" in text
    address = page.url
    usdc = caged.world.tokens["USDC"].address
    caged.safe.owner_call(roles, encode_call(ALLOW_FUNCTION, ROLE, usdc, bytes.fromhex("a9059cbb"), 0))

    phone = open_window(viewport=PHONE)
    phone.log_in(caged.live.owner.username)
    page = phone.open("/admin" + address.partition("/admin")[2])
    phone.shoot("fence-phone")
    assert "may be called, and should not" in page.inner_text("#content")
    assert phone.overflow() == 0
