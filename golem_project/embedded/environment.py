"""Hands the addresses of the embedded servers to the product, as environment variables and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT, Paths
from golem_project.embedded.secret_files import read_or_make_secret

COMPILED_MODULES = CHECKOUT / "var" / "cache" / "python"
LOCAL_CHAIN_ID = 31337
LOCAL_RPC_VARIABLE = f"GOLEM_RPC_URL_{LOCAL_CHAIN_ID}"
SECOND_CHAIN_ID = 31338
SECOND_RPC_VARIABLE = f"GOLEM_RPC_URL_{SECOND_CHAIN_ID}"
SECOND_FILE_VARIABLE = "GOLEM_SECOND_CHAIN_FILE"
# A variable holding the secret itself wins over a file of ours. The names are also what the settings fall back to.
SECRET_FILES = {
    "GOLEM_KEYSTORE_PASSPHRASE": "keystore_passphrase",
    "GOLEM_SECRET_KEY": "secret_key",
}


def load_env_file(environment: MutableMapping[str, str], path: Path = CHECKOUT / ".env") -> None:
    """Add the NAME=value lines of `.env`; what is already set wins. Raises EmbeddedError on any other line."""
    if not path.exists():
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.removeprefix("export ").partition("=")
        if not equals or not name.strip().isidentifier():
            raise EmbeddedError(f"{path}, line {number} is not NAME=value. Fix: correct it, see .env.example.")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        environment.setdefault(name.strip(), value)


def base_environment(paths: Paths, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables every process gets, whatever servers run: folders and files of secrets (made if missing)."""
    exported = {"GOLEM_VAR_DIR": str(paths.var_dir), "GOLEM_CACHE_DIR": str(paths.cache_dir)}
    for name, file_name in SECRET_FILES.items():
        if environment.get(name) or environment.get(f"{name}_FILE"):
            continue
        path = paths.var_dir / file_name
        read_or_make_secret(path)
        exported[f"{name}_FILE"] = str(path)
    return exported


def is_given(environment: Mapping[str, str], server: str) -> bool:
    """Whether the environment already names a server of this kind (postgres, valkey or chain), or a file that does."""
    variable = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL", "chain": LOCAL_RPC_VARIABLE}[server]
    return bool(environment.get(variable) or environment.get(f"{variable}_FILE"))


def current_environment() -> dict[str, str]:
    """A copy of this process's environment with `.env` added, and a place for modules that Python compiled."""
    environment = dict(os.environ)
    load_env_file(environment)
    keep_compiled_modules(environment)
    return environment


def keep_compiled_modules(environment: MutableMapping[str, str], folder: Path = COMPILED_MODULES) -> None:
    """Have Python keep what it compiles, in a folder of ours. Many containers forbid it beside the sources; then each
    of our processes compiles two thousand modules at every start, which takes twice as long as all the rest of it.
    """
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.setdefault("PYTHONPYCACHEPREFIX", str(folder))
