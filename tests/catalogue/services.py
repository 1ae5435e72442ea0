"""Services outside for the cases of tools that ask one: stand-ins in this process, on for the golem's owner."""

from __future__ import annotations

import atexit
from contextlib import ExitStack

from archetypes_app.models import ServiceAccess
from golem_project.outside.access import switch_on
from golem_project.outside.service_client import GuardedDoor
from golem_project.runtime.sdk_socket import SdkSocket
from tests.golem_project.outside import vendors
from tests.golem_project.outside.trading_api import KEY, TradingApi
from tests.live_golem import LiveGolem
from tests.official_sdk import run_sdk
from tests.stand_in import serve_stand_in
from tools_app import runner
from tools_app.chain.chains import open_reader
from tools_app.core import clock
from tools_app.toolkit.enums import ServiceNeed
from tools_app.toolkit.official_sdk import OfficialSdk
from tools_app.toolkit.order_desks import OrderDesk, OrderDesks
from tools_app.toolkit.outside_services import OutsideDoor
from tools_app.toolkit.tooldef import ToolDef

ASK_THE_SDK = ("uniswap_get_second_opinion", "uniswap_sdk_swap")
_LENT: dict[type, object] = {}
_SERVED: dict[str, tuple[TradingApi, str]] = {}
_FIGURES: list[str] = []
"""Where what others say of markets is served, once it is."""
_DESKS: list[str] = []
"""Where signed orders are taken, once somebody signs one."""
_OPEN = ExitStack()
atexit.register(_OPEN.close)


def lend_services(live: LiveGolem, tool: ToolDef) -> None:
    """Give the golem's owner what `tool` asks, over the golem's own chain, and the SDK to those that ask it."""
    if tool.name in ASK_THE_SDK and OfficialSdk not in _LENT:
        _LENT[OfficialSdk] = SdkSocket(_OPEN.enter_context(run_sdk()))
    if tool.name in ASK_THE_SDK and runner.list_services().get(OfficialSdk) != _LENT[OfficialSdk]:
        runner.configure(runner.ToolEnvironment(open_reader, {**runner.list_services(), **_LENT}))
    for need in tool.requires:
        if not isinstance(need, ServiceNeed):
            continue
        if need in vendors.NAMES:
            lend_figures(live)
            continue
        if need not in _SERVED:
            made = TradingApi(live.world)
            _SERVED[need] = made, _OPEN.enter_context(serve_stand_in(made.answer))
        api, url = _SERVED[need]
        api.world = live.world
        _give(live, {need: url}, key=KEY)


def lend_desks(*places: tuple[str, int]) -> None:
    """Desks that take whatever order they are handed, and fill none."""
    if not _DESKS:
        _DESKS.append(_OPEN.enter_context(serve_stand_in(lambda method, path, headers, body: (201, {}))))
    services = runner.list_services()
    desks = OrderDesks(dict.fromkeys(places, OrderDesk(_DESKS[0])), allows_private=True)
    if services.get(OrderDesks) != desks:
        runner.configure(runner.ToolEnvironment(open_reader, {**services, OrderDesks: desks}))


def lend_figures(live: LiveGolem) -> None:
    """Give the golem's owner what others say of markets."""
    if not _FIGURES:
        _FIGURES.append(_OPEN.enter_context(serve_stand_in(vendors.Vendors().answer)))
    _give(live, dict.fromkeys(vendors.NAMES, _FIGURES[0]), key="")


def _give(live: LiveGolem, urls: dict[str, str], *, key: str) -> None:
    owner = live.golem.owner
    for need in urls:
        if not ServiceAccess.objects.filter(person=owner, service=need).exists():
            switch_on(person=owner, name=need, key=key, questions_an_hour=None, now=clock.now())
    door = GuardedDoor(urls, allows_private=True)
    if runner.list_services().get(OutsideDoor) != door:
        runner.configure(runner.ToolEnvironment(open_reader, {**runner.list_services(), OutsideDoor: door}))
