"""Keystore v3 files: one per address, mode 0600, encrypted with the server's passphrase.

Beside each file a `.chains` file lists every chain id the key ever signed for, so that a reset never
deletes a key that holds real money. The passphrase and the key are never logged, stored or sent on.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from eth_typing import HexStr

from permits_app.custody.signers.eth_account_library import load_accounts
from permits_app.errors import SignerUnavailable
from tools_app.chain.abi import checksum
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.core.errors import InvalidParams
from tools_app.core.taint import Secret

_MOST_BYTES = 16 * 1024  # a keystore file has less than one kilobyte


class Keystore:
    """A folder of keystore files. `scrypt_n` is the cost of the key derivation."""

    def __init__(self, *, folder: Path, passphrase: Secret, scrypt_n: int) -> None:
        self._folder = folder
        self._passphrase = passphrase
        self._scrypt_n = scrypt_n

    def create(self) -> str:
        """Make a new key; returns its EIP-55 address."""
        return self._store(Secret("0x" + secrets.token_hex(32)))

    def import_file(self, *, document: str, passphrase: Secret) -> str:
        """Take a keystore v3 document under its own passphrase; returns its address. Raises InvalidParams."""
        try:
            key = load_accounts().decrypt(read_exact_json(document, most_bytes=_MOST_BYTES), passphrase.reveal())
        except (ValueError, TypeError, KeyError):
            raise InvalidParams("the keystore file or its passphrase is wrong") from None
        return self._store(Secret(key.to_0x_hex()))

    def export_file(self, address: str) -> str:
        """The encrypted keystore document of `address`. Raises SignerUnavailable."""
        return self._path(address).read_text(encoding="utf-8") if self.holds(address) else self._missing(address)

    def holds(self, address: str) -> bool:
        """Whether a key file for `address` lies here."""
        return self._path(address).is_file()

    def read_key(self, address: str) -> Secret:
        """The private key of `address`. Raises SignerUnavailable."""
        if not self.holds(address):
            self._missing(address)
        try:
            document: dict[str, object] = json.loads(self._path(address).read_text(encoding="utf-8"))
            return Secret(load_accounts().decrypt(document, self._passphrase.reveal()).to_0x_hex())
        except (ValueError, KeyError, OSError):
            raise SignerUnavailable(
                f"the keystore file of {address} does not open with this server's passphrase", address=address
            ) from None

    def note_chain(self, *, address: str, chain_id: int) -> None:
        """Remember that `address` signs for `chain_id`; called before the first signature on it."""
        path = self._path(address).with_suffix(".chains")
        known = path.read_text(encoding="utf-8").split() if path.exists() else []
        if str(chain_id) in known:
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as handle:
            handle.write(f"{chain_id}\n")
            handle.flush()
            os.fsync(handle.fileno())

    def _store(self, key: Secret) -> str:
        address = str(load_accounts().from_key(key.reveal()).address)
        document = load_accounts().encrypt(
            HexStr(key.reveal()), self._passphrase.reveal(), kdf="scrypt", iterations=self._scrypt_n
        )
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(address)
        _write_whole(path, json.dumps(document))
        return address

    def _path(self, address: str) -> Path:
        return self._folder / f"{checksum(address)}.json"

    def _missing(self, address: str) -> str:
        raise SignerUnavailable(f"no keystore file for {address} lies on this server", address=address)


def _write_whole(path: Path, text: str) -> None:
    """The file with `text`, or as it was: what a full disk took of it is removed. Raises OSError."""
    temporary = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
