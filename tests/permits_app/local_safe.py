"""A Safe of the local world whose owners' keys only a test has."""

from __future__ import annotations

from collections.abc import Sequence

from eth_account.signers.local import LocalAccount

from permits_app.policy_cage.safe_tx import (
    CREATE_PROXY,
    SafeTx,
    encode_exec_transaction,
    encode_setup,
    hash_safe_tx,
    join_signatures,
)
from tests.evm.world import World
from tests.proof.caged.engines import CHAIN_ID, NodeEngine
from tests.proof.caged.safe import sign_digest
from tools_app.chain.abi import checksum, encode_call
from tools_app.core import clock

USD = 10**6
FUNDS = {"USDC": 20_000 * USD, "WETH": 2 * 10**18}


class LocalSafe:
    """Made by the real factory; `threshold` of its owners sign what they call themselves, in the order given."""

    def __init__(self, world: World, owners: Sequence[LocalAccount], *, threshold: int = 1) -> None:
        self.world, self.owners, self.threshold = world, list(owners), threshold
        self.engine = NodeEngine(world.rpc)
        for owner in self.owners:
            self.engine.give_coins(owner.address, 10**21)
        setup = encode_setup(
            [owner.address for owner in self.owners],
            threshold=threshold,
            fallback_handler=world.contracts["safe_fallback_handler"],
        )
        factory = world.contracts["safe_proxy_factory"]
        data = encode_call(CREATE_PROXY, world.contracts["safe"], setup, clock.now().microsecond)
        made = next(log for log in self.engine.send(self.owners[0], factory, data).logs if log.address == factory)
        self.address = checksum("0x" + made.topics[1][-40:])
        self.nonce = 0

    def owner_call(self, to: str, data: bytes, *, operation: int = 0) -> None:
        """What the owners sign and send themselves, without the server."""
        tx = SafeTx(to=to, data=data, operation=operation, nonce=self.nonce)
        digest = hash_safe_tx(tx, safe=self.address, chain_id=CHAIN_ID)
        signed = {str(owner.address): sign_digest(owner, digest) for owner in self.owners[: self.threshold]}
        self.keep_up()
        raw = encode_exec_transaction(tx, signatures=join_signatures(signed))
        assert self.engine.send(self.owners[0], self.address, raw).succeeded
        self.nonce += 1

    def keep_up(self) -> None:
        """Others have mined blocks meanwhile: the next one of this engine is later than theirs."""
        self.engine._next = max(self.engine._next, self.engine._head_time() + 1)
