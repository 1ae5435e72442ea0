"""One claim of a list under a Merkle root, as campaigns publish it: an index, an amount and a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from eth_utils.crypto import keccak
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tools_app.core.bounded_parsing import OutsideTextRefused, read_exact_json
from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.errors import ClaimNotListed
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.params import PLAIN

PAID_IN: Final = "function token() view returns (address)"
ROOT: Final = "function merkleRoot() view returns (bytes32)"
IS_CLAIMED: Final = "function isClaimed(uint256) view returns (bool)"
_MOST_CHARACTERS: Final = 6_000
_MOST_DEPTH: Final = 2
_WORD: Final = r"^0x[0-9a-fA-F]{64}$"
_NUMBER: Final = r"^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$"

ListedClaimText = Annotated[
    str,
    Field(
        max_length=_MOST_CHARACTERS,
        description='A claim as its list tells it: the text of {"index": "7", "amount": "1000", "proof": ["0x…"]}.',
    ),
    PLAIN,
    Meaning.JSON,
]


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    index: Annotated[str, Field(pattern=_NUMBER)]
    amount: Annotated[str, Field(pattern=_NUMBER)]
    proof: Annotated[list[Annotated[str, Field(pattern=_WORD)]], Field(max_length=64)]


@dataclass(frozen=True, slots=True)
class ListedClaim:
    """A claim of base units, and the hashes beside its way up to the root."""

    index: int
    amount: int
    proof: tuple[bytes, ...]

    def root_for(self, account: str) -> bytes:
        """The root under which it would stand for `account`."""
        packed = self.index.to_bytes(32, "big") + bytes.fromhex(account[2:]) + self.amount.to_bytes(32, "big")
        node = bytes(keccak(packed))
        for other in self.proof:
            node = bytes(keccak(min(node, other) + max(node, other)))
        return node


def parse_listed(text: str) -> ListedClaim:
    """Raises InvalidParams, which names every bad field."""
    try:
        raw = read_exact_json(text, most_bytes=4 * _MOST_CHARACTERS, most_depth=_MOST_DEPTH)
        told = _Told.model_validate(raw)
        numbers = [int(each, 0 if each.startswith("0x") else 10) for each in (told.index, told.amount)]
    except OutsideTextRefused as refused:
        raise InvalidParams(f"listed_claim: {refused}", fields={"listed_claim": str(refused)}) from None
    except ValidationError as error:
        fields = {".".join(("listed_claim", *map(str, each["loc"]))): each["msg"] for each in error.errors()}
        words = "; ".join(f"{name}: {problem}" for name, problem in fields.items())
        raise InvalidParams(words, fields=fields) from None
    if max(numbers) >= 2**256 or not numbers[1]:
        raise InvalidParams("an amount above zero, of 256 bits", fields={"listed_claim": "amount"})
    return ListedClaim(numbers[0], numbers[1], tuple(bytes.fromhex(each[2:]) for each in told.proof))


def check_listed(reader: ChainReader, distributor: str, claim: ListedClaim, account: str) -> str:
    """The token that the list pays. Raises ClaimNotListed, ContractOutputUnexpected."""
    answers = reader.call_many(
        [ReadCall(distributor, PAID_IN), ReadCall(distributor, ROOT), ReadCall(distributor, IS_CLAIMED, (claim.index,))]
    )
    if not all(each.ok for each in answers):
        raise ClaimNotListed("the list of claims does not answer", distributor=distributor)
    (token,), (root,), (is_claimed,) = (each.values for each in answers)
    if is_claimed:
        raise ClaimNotListed(f"claim {claim.index} was paid already", distributor=distributor, index=str(claim.index))
    if claim.root_for(account) != bytes(root):
        raise ClaimNotListed(
            f"claim {claim.index} of {claim.amount} base units is not under the list's root for {account}",
            distributor=distributor,
            index=str(claim.index),
        )
    return str(token)
