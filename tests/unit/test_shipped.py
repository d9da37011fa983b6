"""Which copy of the shipped folders is used: the checkout's, or the one inside the installed package."""

from pathlib import Path

import pytest

from lacre import shipped
from lacre.errors import InternalError

ROOT = Path(__file__).resolve().parents[2]


def package(folder: Path) -> Path:
    """A package that carries its copies."""
    for name in ("migrations", "registry/compas"):
        (folder / "_shipped" / name).mkdir(parents=True)
    (folder / "_shipped" / "migrations" / "env.py").write_text("")
    return folder


def test_the_checkout_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped.migrations_folder() == ROOT / "migrations"
    assert shipped.registry_folder() == ROOT / "registry"
    monkeypatch.setattr(shipped, "_PACKAGE", package(tmp_path / "src" / "lacre"))
    assert shipped.migrations_folder() == tmp_path / "src" / "lacre" / "_shipped" / "migrations"
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "env.py").write_text("")
    assert shipped.migrations_folder() == tmp_path / "migrations"
    assert shipped.registry_folder() == tmp_path / "src" / "lacre" / "_shipped" / "registry"


def test_an_installed_package_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies above a site-packages folder is none of its business."""
    monkeypatch.setattr(shipped, "_PACKAGE", package(tmp_path / "site-packages" / "lacre"))
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "env.py").write_text("")
    inside = tmp_path / "site-packages" / "lacre" / "_shipped"
    assert shipped.migrations_folder() == inside / "migrations"
    assert shipped.registry_folder() == inside / "registry"


def test_a_package_without_them_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "lacre")
    with pytest.raises(InternalError):
        shipped.migrations_folder()
    with pytest.raises(InternalError):
        shipped.registry_folder()
