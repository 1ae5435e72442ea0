"""Simulated: a desk on loopback that takes signed limit orders, and whoever fills those that pay.

On a public network anybody does. Here the filler has whatever an order asks for, and fills once what the order gives is
worth at least as much at the price feeds. It lets the reactor take no more than that, so an order that asks for more
waits. Nobody co-signs here: auctions need a desk of the operator's own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address

from golem_project.embedded.world.fund import DEPLOYMENTS_FILE, fund
from golem_project.embedded.world.people import People, RunningProtocol
from golem_project.embedded.world.rpc import RpcError, call_data
from golem_project.embedded.world.world_table import WorldToken, read_world_table

DESKS_VARIABLE: Final = "GOLEM_ORDER_DESKS"
KIND: Final = "Limit"
MOST_WAITING: Final = 200
MOST_BYTES: Final = 65_536
_EXECUTE: Final = "execute((bytes,bytes))"
_OURS: Final = re.compile(r"^uniswap_x:31337=http://127\.0\.0\.1:(\d+)/")
_ORDER: Final = (
    "((address,address,uint256,uint256,address,bytes),uint256,uint256,address,uint256,(address,uint256,uint256),"
    "(address,uint256,uint256,address)[])"
)
_LATEST: Final = "latestRoundData()"
_ROUND: Final = "(uint80,int256,uint256,uint256,uint80)"


@dataclass(frozen=True)
class Order:
    """An order that was handed in. `ends` is Unix seconds; amounts are base units, at the worst for who fills."""

    encoded: bytes
    signature: bytes
    reactor: str
    ends: int
    token: str
    gives: int
    wants: str
    brings: int


def read_order(body: object) -> Order:
    """The order in what was posted. Raises ValueError for anything but a limit order of one token for one other."""
    match body:
        case {"orderType": str(kind), "encodedOrder": told, "signature": signed} if kind == KIND:
            encoded, signature = (bytes.fromhex(str(each).removeprefix("0x")) for each in (told, signed))
        case _:
            raise ValueError("only limit orders are taken here")
    (order,) = decode([_ORDER], encoded)
    (reactor, _, _, deadline, _, _), _, _, _, _, (token, start, end), outputs = order
    wanted = {to_checksum_address(each[0]) for each in outputs}
    if len(wanted) != 1:
        raise ValueError("an order asks for one token")
    return Order(
        encoded=encoded,
        signature=signature,
        reactor=to_checksum_address(reactor),
        ends=deadline,
        token=to_checksum_address(token),
        gives=min(start, end),
        wants=wanted.pop(),
        brings=sum(max(each[1], each[2]) for each in outputs),
    )


class FillersDesk:
    """The door and what waits behind it, by its signature; from the first look on until the process ends."""

    def __init__(self, port: int) -> None:
        self.waiting: dict[bytes, Order] = {}
        self._lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), self._make_door())
        threading.Thread(target=self.server.serve_forever, name="order-desk", daemon=True).start()

    def take(self, order: Order) -> bool:
        """Keep it until it is filled or over; False where too many wait."""
        with self._lock:
            if order.signature not in self.waiting and len(self.waiting) >= MOST_WAITING:
                return False
            self.waiting[order.signature] = order
            return True

    def list_waiting(self) -> list[Order]:
        """What waits now, the first that came first."""
        with self._lock:
            return list(self.waiting.values())

    def let_go(self, order: Order) -> None:
        """It is filled, over, or taken by nobody."""
        with self._lock:
            self.waiting.pop(order.signature, None)

    def _make_door(self) -> type[BaseHTTPRequestHandler]:
        desk = self

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.send_response(self._answer())
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _answer(self) -> int:
                length = int(self.headers.get("Content-Length") or 0)
                if not 0 < length <= MOST_BYTES:
                    return 413
                try:
                    return 201 if desk.take(read_order(json.loads(self.rfile.read(length)))) else 503
                except (ValueError, KeyError, TypeError, DecodingError, OverflowError):
                    return 400

            def log_message(self, format: str, *_: object) -> None:
                """The supervisor's screen is for what was filled."""

        return Door


_desks: dict[int, FillersDesk] = {}


def find_desk() -> FillersDesk | None:
    """The desk of this process, opened at the first call; None where the environment names another or none."""
    named = _OURS.match(os.environ.get(DESKS_VARIABLE, ""))
    if named is None:
        return None
    port = int(named[1])
    if port not in _desks:
        _desks[port] = FillersDesk(port)
    return _desks[port]


def work(place: RunningProtocol) -> str | None:
    """Fill what pays, and forget what is over."""
    desk = find_desk()
    if desk is None:
        return None
    for order in desk.list_waiting():
        if order.ends < place.now() or order.reactor != place.contracts["limit"]:
            desk.let_go(order)
        elif told := _fill(place, order):
            desk.let_go(order)
            return told
    return None


def _fill(place: RunningProtocol, order: Order) -> str | None:
    """Fill it where it pays and the reactor takes it; a sentence once it is filled."""
    tokens = {each.address: each for each in read_world_table(DEPLOYMENTS_FILE).tokens}
    given, wanted = tokens.get(order.token), tokens.get(order.wants)
    if given is None or wanted is None:
        return None
    # Whole numbers: both sides over the same denominator.
    worth = order.gives * _price(place, given) * 10**wanted.decimals
    if worth < order.brings * _price(place, wanted) * 10**given.decimals:
        return None
    fund(place.rpc, place.account, 0, {wanted.symbol: order.brings})
    place.transact(order.wants, "approve(address,uint256)", order.reactor, order.brings)
    filling = (order.encoded, order.signature)
    with contextlib.suppress(RpcError):
        request = {"from": place.account, "to": order.reactor, "data": call_data(_EXECUTE, filling)}
        place.rpc.call("eth_call", request, "latest")
        place.transact(order.reactor, _EXECUTE, filling)
        return f"uniswap_x (simulated): an order of {given.symbol} for {wanted.symbol} is filled"
    # Cancelled, not approved yet, or the maker has less: looked at again until its time is over.
    return None


def _price(place: RunningProtocol, token: WorldToken) -> int:
    """What its feed says; all of the local world's count alike."""
    return int(place.read(token.feed, _LATEST, returns=_ROUND)[1])


PEOPLE = People("uniswap_x", work)
