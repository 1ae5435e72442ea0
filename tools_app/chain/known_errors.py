"""Custom errors this product can name when a contract reverts with them, and what each Solidity panic code means.

Data only; a protocol's own errors are told by the protocol, on SHELF.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.protocol import SHELF

ERROR_TEXT: Final = "error Error(string reason)"
PANIC: Final = "error Panic(uint256 code)"
PANIC_NAMES: Final[dict[int, str]] = {
    0x00: "generic compiler panic",
    0x01: "assertion failed",
    0x11: "arithmetic overflow or underflow",
    0x12: "division or modulo by zero",
    0x21: "value out of range of an enum",
    0x22: "malformed storage byte array",
    0x31: "pop on an empty array",
    0x32: "array index out of bounds",
    0x41: "too much memory requested",
    0x51: "call of an empty internal function",
}

KNOWN_ERRORS: Final[tuple[str, ...]] = (
    # our own tokens and feeds of the local chain
    "error NotOwner(address caller)",
    "error ZeroAddress()",
    "error InsufficientBalance(address account, uint256 balance, uint256 needed)",
    "error InsufficientAllowance(address spender, uint256 allowed, uint256 needed)",
    "error NoData(uint80 roundId)",
    # ERC-6093: what OpenZeppelin tokens of version 5 revert with
    "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
    "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
    "error ERC20InvalidSender(address sender)",
    "error ERC20InvalidReceiver(address receiver)",
    "error ERC20InvalidApprover(address approver)",
    "error ERC20InvalidSpender(address spender)",
    "error ERC721InvalidOwner(address owner)",
    "error ERC721NonexistentToken(uint256 tokenId)",
    "error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)",
    "error ERC721InvalidSender(address sender)",
    "error ERC721InvalidReceiver(address receiver)",
    "error ERC721InsufficientApproval(address operator, uint256 tokenId)",
    "error ERC721InvalidApprover(address approver)",
    "error ERC721InvalidOperator(address operator)",
    # OpenZeppelin's SafeERC20, Ownable, AccessControl, Pausable, ReentrancyGuard, ERC-4626
    "error SafeERC20FailedOperation(address token)",
    "error OwnableUnauthorizedAccount(address account)",
    "error OwnableInvalidOwner(address owner)",
    "error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)",
    "error EnforcedPause()",
    "error ReentrancyGuardReentrantCall()",
    "error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)",
    "error ERC4626ExceededMaxMint(address receiver, uint256 shares, uint256 max)",
    "error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)",
    "error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)",
    # Permit2
    "error AllowanceExpired(uint256 deadline)",
    "error InsufficientAllowance(uint256 amount)",
    "error SignatureExpired(uint256 signatureDeadline)",
    "error InvalidNonce()",
)


def find_error(selector: bytes) -> str | None:
    """The signature of an error by its selector: ours first, then those that protocols on SHELF tell of."""
    return _by_selector(SHELF.version).get(selector)


@lru_cache(maxsize=1)
def _by_selector(shelf_version: int) -> Mapping[bytes, str]:
    theirs = [text for each in SHELF for text in each.errors]
    return {parse_signature(text).selector: text for text in (*theirs, ERROR_TEXT, PANIC, *KNOWN_ERRORS)}
