"""The call tree of a permit in a browser: without script, at desk and phone width, with a revert in red."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from permits_app.models import ActionPermit
from permits_app.permits.plan_store import encode_calls
from tests.architecture.sources import ROOT
from tests.browser.conftest import PHONE, press
from tests.factories.golems import PASSWORD
from tests.live_golem import LiveGolem
from tests.tools_app.simulation.protocol_bytecode import bytecode
from tests.tools_app.simulation.router import deploy_router, plan_swap

__all__ = ["bytecode"]

pytestmark = pytest.mark.browser


def test_the_pictures_of_the_documents_are_taken_from_a_running_server(
    open_window: Any, demo: LiveGolem, swap_id: str, tmp_path: Path
) -> None:
    visit = open_window()
    (tmp_path / "password").write_text(PASSWORD)
    told = subprocess.run(
        [sys.executable, "-m", "tests.browser.picture", "--url", visit.base_url, "--username", "owner-a"]
        + ["--password-file", str(tmp_path / "password"), "--folder", str(tmp_path), "--permit", swap_id],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    taken = {Path(line).name for line in told.stdout.splitlines()}
    assert taken == {each.name for each in (ROOT / "docs" / "images").glob("*.png")}, told.stderr
    for name in taken:
        fresh, kept = (read_size(folder / name) for folder in (tmp_path, ROOT / "docs" / "images"))
        assert fresh == kept, name


def read_size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG."""
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return int(width), int(height)


@pytest.mark.parametrize(("name", "viewport"), [("trace", None), ("trace-phone", PHONE)])
def test_the_call_tree_of_a_swap_fits_the_window_and_folds_without_script(
    open_window: Any, demo: LiveGolem, swap_id: str, name: str, viewport: dict[str, int] | None
) -> None:
    visit = open_window(viewport=viewport, has_javascript=False)
    visit.log_in("owner-a")
    page = visit.open(f"/admin/permits_app/actionpermit/{swap_id}/change/")
    assert "old" in page.inner_text("#simulation")
    press(page.get_by_role("link", name="Call tree"))
    visit.shoot(name)
    text = page.inner_text("#content")
    frames = page.locator(".gx-frame")
    inner = page.locator(".gx-frame .gx-frame").first

    assert frames.count() >= 5
    assert "USDC" in text
    assert "gas" in text
    assert "eth_simulateV1" in page.inner_text("#fidelity")
    first = page.locator(".gx-frame").first
    was_open = first.get_attribute("open") is not None
    first.locator("> summary").click()
    assert (first.get_attribute("open") is not None) != was_open
    assert inner.count() == 1


def test_the_phone_page_is_not_wider_than_the_phone(open_window: Any, demo: LiveGolem, swap_id: str) -> None:
    visit = open_window(viewport=PHONE)
    visit.log_in("owner-a")
    page = visit.open(f"/admin/permits_app/actionpermit/{swap_id}/trace/")
    assert visit.overflow() <= 0

    press(page.get_by_role("link", name="Show the state difference"))
    for account in page.locator("#state details > summary").all():
        account.click()
    visit.shoot("state-phone")

    assert "USDC" in page.inner_text("#state")
    assert page.locator("#state td").count() >= 6
    assert visit.overflow() <= 0


def test_a_revert_is_red_and_open(open_window: Any, demo: LiveGolem, swap_id: str) -> None:
    permit = ActionPermit.objects.get(pk=swap_id)
    # The swap without its approval, as a plan that fails deep inside.
    ActionPermit.objects.filter(pk=swap_id).update(calls=permit.calls[-1:])
    visit = open_window()
    visit.log_in("owner-a")
    page = visit.open(f"/admin/permits_app/actionpermit/{swap_id}/trace/")
    visit.shoot("trace-revert")
    bad = page.locator(".gx-frame-bad > summary").last
    red, green, blue = page.evaluate(
        "e => getComputedStyle(e).color.match(/\\d+/g).slice(0, 3).map(Number)", bad.element_handle()
    )

    assert bad.is_visible()
    assert red > green + 60
    assert red > blue + 60


@pytest.mark.parametrize(("name", "viewport"), [("trace-router", None), ("trace-router-phone", PHONE)])
def test_a_plan_through_the_universal_router_reads_as_what_it_does(
    open_window: Any,
    demo: LiveGolem,
    swap_id: str,
    bytecode: dict[str, str],
    name: str,
    viewport: dict[str, int] | None,
) -> None:
    """Three calls in one fork: two approvals and a swap in two pools, folded together and open on the way down."""
    world, permit = demo.world, ActionPermit.objects.get(pk=swap_id)
    plan = plan_swap(world, deploy_router(world, bytecode), amount=400 * 10**6)
    block = world.rpc.call("eth_getBlockByNumber", "latest", False)
    told = {
        "number": str(int(block["number"], 16)),
        "hash": block["hash"],
        "timestamp": str(int(block["timestamp"], 16)),
    }
    permit.simulation["block"] |= told
    permit.simulation["signed_with"]["gas_limits"] = [10**6] * len(plan)
    ActionPermit.objects.filter(pk=swap_id).update(
        calls=encode_calls(plan, [10**6] * len(plan)), simulation=permit.simulation
    )
    visit = open_window(viewport=viewport)
    visit.log_in("owner-a")
    page = visit.open(f"/admin/permits_app/actionpermit/{swap_id}/trace/")
    visit.shoot(name)
    text = page.inner_text("#content")

    assert page.locator(".gx-card .gx-badge.gx-good").count() == 3
    assert page.locator(".gx-frame-bad").count() == 0
    for words in ("Permit2", "400 USDC", "v3SwapExactIn", "amount in 320 USDC", "v2SwapExactIn", "amount in 80 USDC"):
        assert words in text, words
    assert "pool (Uniswap V3)" in page.text_content("#content")
    assert visit.overflow() <= 0
