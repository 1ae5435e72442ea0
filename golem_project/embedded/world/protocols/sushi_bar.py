"""SushiBar on the local chain: the real contract over DAI, with a guest who came before and fees that were earned."""

from __future__ import annotations

from typing import Final

from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.world.artifact import Artifact
from golem_project.embedded.world.compiled import compile_sources
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

# As its authors compile it.
SETTINGS: Final[dict[str, object]] = {"optimizer": {"enabled": True, "runs": 5_000}, "evmVersion": "istanbul"}
ASSET: Final = "DAI"
ENTERED_USD: Final = 1_000_000
# So that a share is worth more than one, as after some time.
EARNED_USD: Final = 50_000


def compile_contracts(fetched: Fetched, *, say: Say = say_to_stderr) -> dict[str, Artifact]:
    """Contract name -> artefact."""
    sources = {**fetched.sources("sushi"), **fetched.sources("openzeppelin", under="@openzeppelin/contracts/")}
    return compile_sources(fetched.packages["solc"], sources, SETTINGS, say=say)


def deploy(site: Site) -> dict[str, str]:
    """The bar, somebody inside, and something earned."""
    compiled = compile_contracts(site.fetched, say=site.say)
    token, entered = site.tokens[ASSET], worth(ASSET, ENTERED_USD)
    bar = site.create(compiled["SushiBar"].code, "(address)", token, what="the bar")
    guest = site.account("guest")
    site.give(ASSET, entered + worth(ASSET, EARNED_USD), guest.address)
    site.transact(token, "approve(address,uint256)", bar, entered, sender=guest)
    site.transact(bar, "enter(uint256)", entered, sender=guest)
    site.transact(token, "transfer(address,uint256)", bar, worth(ASSET, EARNED_USD), sender=guest)
    return {"bar": bar}


WORLD = ProtocolWorld("sushi_bar", deploy, compiles=compile_contracts)
