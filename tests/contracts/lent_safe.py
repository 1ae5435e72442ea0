"""A real Safe that uses LoanCallback, with a cage and without, and the ways in which others try to use it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage.safe_batches import pack_calls
from permits_app.policy_cage.safe_tx import (
    DISABLE_MODULE,
    ENABLE_MODULE,
    FIRST_MODULE,
    NONCE,
    SafeTx,
    encode_exec_transaction,
    hash_safe_tx,
    join_signatures,
)
from tests.contracts.operations import Operations, deploy_operations
from tests.proof.caged.engines import CHAIN_ID, Sent
from tests.proof.caged.safe import CagedSafe, deploy, sign_digest
from tools_app.chain.abi import encode_call
from tools_app.standards.loan_callback import run_within
from tools_app.toolkit.plan import Call

FIRST_CODE: Final = bytes.fromhex(Path(__file__).with_name("first_loan_callback.hex").read_text().strip()[2:])
"""What `LoanCallback` was before it asked who calls the Safe."""
SET_HANDLER: Final = "function setFallbackHandler(address handler)"
ANNOUNCE: Final = "function announce(address lender, bytes steps)"
OF_MORPHO: Final = "function onMorphoFlashLoan(uint256 assets, bytes steps)"
OF_AAVE: Final = (
    "function executeOperation(address asset, uint256 amount, uint256 premium, address initiator, bytes params)"
)
RELAY: Final = "function relay(address to, bytes data)"
_STEPS: Final = "function steps((address to, uint256 value, bytes data)[] steps)"


@dataclass
class LentSafe:
    """`lender` passes on whatever it is told by whomever, as a stranger's contract does and a lender does not."""

    caged: CagedSafe
    callback: str
    lender: str

    @property
    def safe(self) -> str:
        return self.caged.safe

    @cached_property
    def operations(self) -> Operations:
        """The EntryPoint, and the account by which the stranger comes through it."""
        return deploy_operations(self.caged)

    def act(self, *calls: Call) -> Sent:
        """The owners' batch: two of three sign it, a stranger relays it."""
        multi_send = self.caged.contracts["safe_multi_send_call_only"]
        return self._sign(pack_calls(calls, safe=self.safe, multi_send=multi_send))

    def act_by_delegate_call(self, to: str, data: bytes) -> Sent:
        """What owners may sign and the product never asks them to: another contract's code as the Safe's own."""
        return self._sign(SafeTx(to=to, data=data, nonce=0, operation=1))

    def _sign(self, unsigned: SafeTx) -> Sent:
        caged = self.caged
        tx = replace(unsigned, nonce=int(caged.read(self.safe, NONCE)[0]))
        digest = hash_safe_tx(tx, safe=self.safe, chain_id=CHAIN_ID)
        signatures = {str(owner.address): sign_digest(owner, digest) for owner in caged.owners[:2]}
        data = encode_exec_transaction(tx, signatures=join_signatures(signatures))
        return caged.engine.send(caged.stranger, self.safe, data)

    def steal(self, symbol: str = "USDC") -> Call:
        """All of a token to a stranger."""
        return self.caged.transfer(symbol, self.caged.stranger.address, self.caged.balance(symbol))

    def borrow(self, *steps: Call, callback: str = "") -> tuple[Call, Call]:
        """The Safe's announcement, and the lender's callback, as the product makes them."""
        return run_within(
            steps,
            handler=callback or self.callback,
            account=self.safe,
            lender=self.lender,
            ask=lambda data: Call(self.lender, encode_call(RELAY, self.safe, lend(data)), 0, ""),
            label="",
        )


def encode_steps(steps: Sequence[Call]) -> bytes:
    """As a lender passes them on."""
    return encode_call(_STEPS, [(step.to, step.value, step.data) for step in steps])[4:]


def lend(steps: bytes) -> bytes:
    """Morpho's callback."""
    return encode_call(OF_MORPHO, 0, steps)


def deploy_code(caged: CagedSafe, code: bytes) -> str:
    sent = caged.engine.send(caged.deployer, None, code)
    assert sent.succeeded and sent.created
    return sent.created


def give_callback(
    caged: CagedSafe,
    *,
    with_cage: bool = True,
    code: bytes | None = None,
    is_handler: bool = True,
    is_module: bool = True,
) -> LentSafe:
    """The owners set a LoanCallback as handler and module, or as one of the two; without a cage the cage goes."""
    callback = deploy_code(caged, code or bytes.fromhex(load_contract("LoanCallback").bytecode[2:]))
    if is_handler:
        assert caged.owner_call(caged.safe, encode_call(SET_HANDLER, callback)).succeeded
    if not with_cage:
        assert caged.owner_call(caged.safe, encode_call(DISABLE_MODULE, FIRST_MODULE, caged.cage)).succeeded
    if is_module:
        assert caged.owner_call(caged.safe, encode_call(ENABLE_MODULE, callback)).succeeded
    return LentSafe(caged, callback, deploy(caged, "Relayer"))
