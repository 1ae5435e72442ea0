"""A desk and a filler: takes signed orders by HTTP, co-signs them, and fills them on the local chain when told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from eth_abi import decode, encode
from eth_account import Account
from eth_keys import keys
from eth_utils import keccak

from tests.evm.world import BASE_FEE, CHAIN_ID, World
from tools_app.protocols.uniswap_x.addresses import DUTCH_V2, DUTCH_V3, PRIORITY
from tools_app.protocols.uniswap_x.orders import KINDS, ZERO, OrderKind

EXECUTE = "execute((bytes,bytes))"


@dataclass
class Filler:
    """Who fills. `received` is what its desk was handed; while it `refuses`, the desk takes nothing."""

    world: World
    account: Any
    cosigner: Any
    url: str = ""
    received: list[dict[str, Any]] = field(default_factory=list)
    refuses: bool = False

    def fill(self, body: dict[str, Any], order_hash: str, *, decay: tuple[int, int] = (0, 0)) -> dict[str, Any]:
        """Send the fill; the receipt, also of one that reverted."""
        call = self.prepare(body, order_hash, decay=decay)
        return self.world.send(self.account, call["to"], call["data"])

    def prepare(self, body: dict[str, Any], order_hash: str, *, decay: tuple[int, int] = (0, 0)) -> dict[str, str]:
        """The call that fills it."""
        encoded = self.cosign(body, bytes.fromhex(order_hash[2:]), decay)
        kind = _kind(body)
        (order,) = decode([kind.abi], encoded)
        reactor = self.world.protocols["uniswap_x"][kind.key]
        assert order[0][0] == reactor.lower()
        from golem_project.embedded.world.rpc import call_data

        data = call_data(EXECUTE, (encoded, bytes.fromhex(body["signature"][2:])))
        return {"from": self.account.address, "to": reactor, "data": data, "gasPrice": hex(10 * BASE_FEE)}

    def cosign(self, body: dict[str, Any], order_hash: bytes, decay: Sequence[int]) -> bytes:
        """The order with its cosigner's word, as the reactor takes it."""
        kind, encoded = _kind(body), bytes.fromhex(body["encodedOrder"][2:])
        if not kind.is_cosigned:
            return encoded
        (order,) = decode([kind.abi], encoded)
        begins, ends = decay
        block = self.world.rpc.call("eth_getBlockByNumber", "latest", False)
        latest, time = int(block["number"], 16), int(block["timestamp"], 16)
        said: dict[str, tuple[str, tuple[Any, ...]]] = {
            DUTCH_V2: (
                "(uint256,uint256,address,uint256,uint256,uint256[])",
                (begins or time, ends or time + 60, ZERO, 0, 0, [0]),
            ),
            DUTCH_V3: ("(uint256,address,uint256,uint256,uint256[])", (begins or latest, ZERO, 0, 0, [0])),
            PRIORITY: ("(uint256)", (begins or latest,)),
        }
        types, data = said[kind.key]
        chain = b"" if kind.key == DUTCH_V2 else CHAIN_ID.to_bytes(32, "big")
        digest = keccak(order_hash + chain + encode([types], [data]))
        told = keys.PrivateKey(bytes(self.cosigner.key)).sign_msg_hash(digest)
        signature = told.r.to_bytes(32, "big") + told.s.to_bytes(32, "big") + bytes([27 + told.v])
        return bytes(encode([kind.abi], [(*order[:-2], data, signature)]))


def _kind(body: dict[str, Any]) -> OrderKind:
    return next(kind for kind in KINDS.values() if kind.wire == body["orderType"])


@contextmanager
def open_desk(world: World) -> Iterator[Filler]:
    """A filler with WETH, its desk listening on loopback."""
    account = world.new_account(10**18, {"WETH": 100 * 10**18})
    filler = Filler(world, account, Account.create())
    weth = world.tokens["WETH"].address
    for reactor in world.protocols["uniswap_x"].values():
        world.transact(account, weth, "approve(address,uint256)", reactor, 2**255)

    class Desk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not filler.refuses:
                filler.received.append(body)
            self.send_response(503 if filler.refuses else 201)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    filler.url = f"http://127.0.0.1:{server.server_port}/v2/order"
    try:
        yield filler
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
