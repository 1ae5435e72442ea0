"""The Python client as a package: its wheel and its sdist are built, hold what they should, and install alone."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

FOLDER = ROOT / "clients" / "python"
MODULES = {f"golem_client/{path.name}" for path in (FOLDER / "golem_client").glob("*.py")} | {"golem_client/py.typed"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both archives, built from a copy: setuptools writes beside its sources."""
    scratch = tmp_path_factory.mktemp("python")
    source = scratch / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", *sorted(MODULES)):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_bytes((FOLDER / name).read_bytes())
    argv = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(scratch / "built"), str(source)]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return scratch / "built"


def test_the_wheel_holds_the_client_its_types_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == MODULES


def test_the_sdist_holds_what_the_wheel_is_built_from(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert MODULES | {"pyproject.toml", "README.md"} <= names
    assert not {name for name in names if name.startswith(("examples", "tests"))}


def test_the_wheel_installs_alone_and_is_the_version_it_says(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    argv = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*argv, "--target", str(tmp_path), str(wheel)], check=True, timeout=90)
    code = "import golem_client, importlib.metadata as m; print(golem_client.__file__, m.version('golem-client'))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ran.stdout.split() == [str(tmp_path / "golem_client" / "__init__.py"), "0.1.0"], ran.stderr
