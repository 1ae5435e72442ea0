"""What the owners signed for another time, and a token that has it sent in the middle of a batch."""

from __future__ import annotations

from eth_utils.crypto import keccak

from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION, NONCE, join_signatures
from tests.proof.caged.engines import CHAIN_ID
from tests.proof.caged.safe import CagedSafe, sign_digest
from tools_app.chain.abi import encode_call

LISTEN = "function listen(address listener, bytes message)"
_SAFE_TX = (
    "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,"
    "address gasToken,address refundReceiver,uint256 nonce)"
)
_DOMAIN = "EIP712Domain(uint256 chainId,address verifyingContract)"


def sign_for_owners(caged: CagedSafe, to: str, data: bytes, *, safe_tx_gas: int = 0) -> bytes:
    """A transaction of the Safe that two owners signed and anyone may send; with `safe_tx_gas` a failure uses it up."""
    nonce = int(caged.read(caged.safe, NONCE)[0])
    zero = "0x" + "00" * 20

    def word(value: int) -> bytes:
        return value.to_bytes(32, "big")

    def address(value: str) -> bytes:
        return word(int(value, 16))

    fields = [keccak(text=_SAFE_TX), address(to), word(0), keccak(data), word(0), word(safe_tx_gas), word(0), word(0)]
    struct = keccak(b"".join([*fields, address(zero), address(zero), word(nonce)]))
    domain = keccak(keccak(text=_DOMAIN) + word(CHAIN_ID) + address(caged.safe))
    digest = keccak(b"\x19\x01" + domain + struct)
    signed = join_signatures({str(owner.address): sign_digest(owner, digest) for owner in caged.owners[:2]})
    return encode_call(EXEC_TRANSACTION, to, 0, data, 0, safe_tx_gas, 0, 0, zero, zero, signed)
