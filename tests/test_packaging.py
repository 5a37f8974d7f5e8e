"""What is installed: the packages listed, the links, source archive and wheel, and names that users own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from layers import ROOT, modules

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LINKS = {"saturate/rules": "../rules", "saturate/extract": "../extract"}
TRACKED = (ROOT / ".git").exists() and shutil.which("git") is not None
needs_git = pytest.mark.skipif(not TRACKED, reason="not a git checkout: what is committed cannot be asked")


def run(*command: str | Path, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command, its output as text; `path` stands first on Python's search path."""
    environment = dict(os.environ) | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(
        [str(c) for c in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def tracked() -> list[str]:
    listed = run("git", "ls-files", "-s", cwd=ROOT)
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.splitlines()


def test_every_package_is_listed() -> None:
    folders = {name for name, path in modules().items() if path.name == "__init__.py"}
    listed = CONFIG["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(folders)
    assert CONFIG["tool"]["setuptools"]["package-dir"] == {
        "saturate": "saturate",
        "saturate.rules": "rules",
        "saturate.extract": "extract",
    }


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for path in modules().values()}
    assert all((folder / "__init__.py").is_file() for folder in folders)


@pytest.mark.parametrize("link", LINKS)
def test_links_are_relative(link: str) -> None:
    assert (ROOT / link).readlink() == Path(LINKS[link])
    assert (ROOT / link / "__init__.py").is_file()


@needs_git
def test_links_are_committed_as_links() -> None:
    links = {line.split("\t")[1] for line in tracked() if line.startswith("120000")}
    assert links == set(LINKS)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive made from what is committed, and the wheel made from that archive alone."""
    folder = tmp_path_factory.mktemp("built")
    tree = folder / "tree"
    for line in tracked():
        name = line.split("\t")[1]
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    archive = _build("sdist", tree, folder)
    with tarfile.open(archive) as opened:
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
        opened.extractall(folder / "unpacked", **safe)
    (unpacked,) = (folder / "unpacked").iterdir()
    return archive, _build("wheel", unpacked, folder)


def _build(kind: str, tree: Path, out: Path) -> Path:
    code = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
    made = run(sys.executable, "-W", "ignore", "-c", code, out, cwd=tree)
    assert made.returncode == 0, made.stderr
    (file,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return file


@needs_git
def test_wheel_from_source_archive_holds_every_module(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        names = set(wheel.namelist())
    for module, path in modules().items():
        inside = "__init__.py" if path.name == "__init__.py" else path.name
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        committed = f"{package.replace('.', '/')}/{inside}"
        if any(line.endswith(f"\t{path.relative_to(ROOT).as_posix()}") for line in tracked()):
            assert committed in names
    assert "saturate/py.typed" in names
    tops = {name.partition("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"saturate"}


@needs_git
def test_installed_wheel_works_without_the_repository(built: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "site"
    options = ["--quiet", "--no-deps", "--no-index", "--target"]
    made = run(sys.executable, "-m", "pip", "install", *options, target, built[1], cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    code = (
        "import saturate, saturate.rules as r, saturate.extract as e; "
        "print(saturate.__file__, r.__file__, e.__file__)"
    )
    said = run(sys.executable, "-c", code, cwd=tmp_path, path=target)
    assert said.returncode == 0, said.stderr
    assert all(file.startswith(str(target)) for file in said.stdout.split())


@pytest.mark.parametrize(("folder", "what"), [("rules", "catalogue"), ("extract", "registry")])
def test_top_level_names_are_refused(folder: str, what: str) -> None:
    said = run(sys.executable, "-c", f"import {folder}", cwd=ROOT)
    assert said.returncode != 0
    assert said.stderr.splitlines()[-1] == (
        f"ImportError: import this package as saturate.{folder}: "
        f"under another name a second {what} would be built"
    )


def test_a_users_own_rules_do_not_break_saturate(tmp_path: Path) -> None:
    """A script that stands beside modules named rules and extract gets its own, and saturate its own."""
    for name in ("rules", "extract"):
        (tmp_path / f"{name}.py").write_text(f"MINE = '{name} of the user'\n")
    (tmp_path / "script.py").write_text(
        "import extract, rules, saturate\n"
        "from saturate.extract import EXTRACTORS\nfrom saturate.rules import CATALOGUE\n"
        "print(rules.MINE, extract.MINE, len(CATALOGUE) > 0, len(EXTRACTORS) > 0, sep=', ')\n"
    )
    said = run(sys.executable, tmp_path / "script.py", cwd=tmp_path)
    assert said.stderr == ""
    assert said.stdout == "rules of the user, extract of the user, True, True\n"
