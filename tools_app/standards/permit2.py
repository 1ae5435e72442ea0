"""Permit2: what an owner let a spender take through it, what they would sign for more, and taking that back.

Permit2 holds allowances of its own, beside the one the token gave to Permit2; both must be seen to know what is open.
"""

from __future__ import annotations

from typing import Any, Final

from tools_app.chain.abi import encode_call
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import TokenMeta

PERMIT2: Final = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
"""One address on every chain that has it."""
ALLOWANCE: Final = (
    "function allowance(address owner, address token, address spender)"
    " view returns (uint160 amount, uint48 expiration, uint48 nonce)"
)
APPROVAL_EVENT: Final = (
    "event Approval(address indexed owner, address indexed token, address indexed spender,"
    " uint160 amount, uint48 expiration)"
)
_DETAILS: Final = (("token", "address"), ("amount", "uint160"), ("expiration", "uint48"), ("nonce", "uint48"))
_SINGLE: Final = (("details", "PermitDetails"), ("spender", "address"), ("sigDeadline", "uint256"))
_DOMAIN: Final = (("name", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))
APPROVE: Final = "function approve(address token, address spender, uint160 amount, uint48 expiration)"
_LOCKDOWN: Final = "function lockdown((address token, address spender)[] approvals)"


class Permit2Allowance(Told):
    """Base units a spender may take until `expiration` (seconds), and the nonce the next signed permit must carry."""

    amount: int
    expiration: int
    nonce: int

    def usable_at(self, timestamp: int) -> int:
        """Base units that can be taken at a block of that time."""
        return self.amount if timestamp <= self.expiration else 0


def allowance(reader: ChainReader, *, token: TokenMeta, owner: str, spender: str) -> Permit2Allowance:
    """What `spender` may take of `owner` through Permit2. Raises ContractOutputUnexpected where there is no Permit2."""
    return Permit2Allowance(*reader.call(PERMIT2, ALLOWANCE, owner, token.address, spender))


def approve(*, token: TokenMeta, spender: str, amount: int, expiration: int) -> Call:
    """Let `spender` take `amount` base units through Permit2 until `expiration` (seconds)."""
    data = encode_call(APPROVE, token.address, spender, amount, expiration)
    return Call(PERMIT2, data, 0, f"Approve {token.symbol} for {spender} through Permit2")


def domain_of(chain_id: int) -> dict[str, Any]:  # Any: typed data (EIP-712)
    """The EIP-712 domain of what is signed for Permit2."""
    return {"name": "Permit2", "chainId": chain_id, "verifyingContract": PERMIT2}


def build_permit(
    *, chain_id: int, token: TokenMeta, spender: str, amount: int, expiration: int, nonce: int, signed_until: int
) -> dict[str, object]:
    """What an owner's wallet signs (`eth_signTypedData_v4`) instead of `approve`; JSON-ready, nothing is signed here.

    `nonce` is that of `allowance`; `signed_until` (seconds) is how long the signature may be handed in.
    """
    types = {"EIP712Domain": _DOMAIN, "PermitDetails": _DETAILS, "PermitSingle": _SINGLE}
    return {
        "types": {name: [{"name": field, "type": kind} for field, kind in fields] for name, fields in types.items()},
        "primaryType": "PermitSingle",
        "domain": domain_of(chain_id),
        "message": {
            "details": {"token": token.address, "amount": str(amount), "expiration": expiration, "nonce": nonce},
            "spender": spender,
            "sigDeadline": str(signed_until),
        },
    }


def revoke(*, token: TokenMeta, spender: str) -> Call:
    """Take back what `spender` may take through Permit2."""
    data = encode_call(_LOCKDOWN, [(token.address, spender)])
    return Call(PERMIT2, data, 0, f"Revoke {token.symbol} from {spender} in Permit2")
