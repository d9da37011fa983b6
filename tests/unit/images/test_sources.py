"""Which files are looked at, and what they are called."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from lacre.errors import FileMissing, ImagesWithin, NotReadable, NotWritten
from lacre.images.sources import distinct_names, find_sources, shown


def files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode("utf-8", "surrogateescape"))


def found(folder: Path, *images: str, output: str = "out") -> dict[str, str]:
    sources = find_sources([folder / image for image in images], folder / output)
    assert [source.name for source in sources] == sorted(source.name for source in sources)
    return {source.name: source.skipped for source in sources}


def test_a_folder_is_looked_through_to_its_end(tmp_path: Path) -> None:
    files(tmp_path, "in/b.jpg", "in/a/b.jpg", "in/a/b.png", "in/.DS_Store", "in/.git/x.png", "else.jpg")
    (tmp_path / "in/link.jpg").symlink_to("b.jpg")
    (tmp_path / "in/round").symlink_to(tmp_path / "in")
    os.mkfifo(tmp_path / "in/pipe")
    assert found(tmp_path, "in") == {
        **dict.fromkeys(("b.jpg", "a/b.jpg", "a/b.png"), ""),
        **dict.fromkeys((".DS_Store", ".git"), "hidden"),
        **dict.fromkeys(("link.jpg", "round"), "link"),
        "pipe": "not-a-file",
    }


def test_what_is_named_itself_is_taken(tmp_path: Path) -> None:
    files(tmp_path, "in/.hidden.jpg", "in/b.jpg")
    (tmp_path / "link.jpg").symlink_to("in/b.jpg")
    (tmp_path / "folder").symlink_to("in")
    assert found(tmp_path, "in/.hidden.jpg") == {".hidden.jpg": ""}
    assert found(tmp_path, "link.jpg") == {"link.jpg": ""}
    assert found(tmp_path, "folder")["b.jpg"] == ""
    assert found(tmp_path, "in", "in/.hidden.jpg", "in/b.jpg") == {"in/.hidden.jpg": "", "in/b.jpg": ""}


def test_names_are_below_what_holds_all_that_is_given(tmp_path: Path) -> None:
    files(tmp_path, "one/x.jpg", "two/x.jpg", "two/y.jpg")
    assert set(found(tmp_path, "one", "two/x.jpg")) == {"one/x.jpg", "two/x.jpg"}
    assert set(found(tmp_path, "two/x.jpg", "two/y.jpg")) == {"x.jpg", "y.jpg"}


def test_the_folder_that_is_written_to_holds_no_image(tmp_path: Path) -> None:
    files(tmp_path, "in/a.jpg", "in/out/original/a.jpg.png")
    assert found(tmp_path, "in", output="in/out") == {"a.jpg": ""}
    for images in ("in/out", "in/out/original", "in/out/original/a.jpg.png"):
        with pytest.raises(ImagesWithin):
            found(tmp_path, images, output="in/out")
    with pytest.raises(ImagesWithin):
        found(tmp_path, "in", output=".")
    with pytest.raises(FileMissing):
        found(tmp_path, "nowhere")


def test_names_are_kept_where_they_can_be() -> None:
    plain = (
        "a.jpg",
        "São-João_1.png",
        "写真.jpg",
        "a.png",
        "IMG 1.jpg",
        "x/y.jpg",
        "=1+1.jpg",
        "-o.jpg",
        "..jpg",
        "a\nb",
    )
    assert list(distinct_names(plain).values()) == [
        *(
            "a.jpg",
            "São-João_1.png",
            "写真.jpg",
            "a.png",
            "IMG_1.jpg",
            "x_y.jpg",
            "_1_1.jpg",
            "_o.jpg",
            "_.jpg",
            "a_b",
        )
    ]


def test_a_path_with_a_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadable):
        find_sources([tmp_path / "a\0b"], tmp_path / "out")
    with pytest.raises(NotWritten):
        find_sources([tmp_path], tmp_path / "out\0put")


def test_names_that_would_be_one_are_told_apart() -> None:
    """By the SHA-256 of each: that of "a.jpg" begins with e9cf5f0b, that of "A.jpg" with another (`sha256sum`)."""
    import hashlib

    digest = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("a.jpg", "A.jpg", "a/b", "a_b")}
    assert distinct_names(digest) == {name: f"{name.replace('/', '_')}-{digest[name][:8]}" for name in digest}
    composed, apart = "é.jpg", "e\u0301.jpg"
    assert len({name.casefold() for name in distinct_names([composed, apart]).values()}) == 2
    taken = distinct_names(["manifest.csv", "Original"], ["manifest.csv"])
    assert taken["manifest.csv"].startswith("manifest.csv-")
    assert taken["Original"] == "Original"
    squatter = f"a.jpg-{digest['a.jpg'][:8]}"
    assert len(set(distinct_names(["a.jpg", "A.jpg", squatter]).values())) == 3


NAMES = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=300)


@settings(max_examples=200, deadline=None)
@given(st.sets(NAMES.filter(lambda name: not any(0xD800 <= ord(c) < 0xE000 for c in name)), max_size=8))
def test_any_names_are_safe_and_distinct(names: set[str]) -> None:
    made = distinct_names(sorted(names))
    assert len({name.casefold() for name in made.values()}) == len(names)
    for name in made.values():
        assert 0 < len(name.encode()) <= 250
        assert "/" not in name
        assert name not in (".", "..")
        assert name[0] not in "=+-@\t\r\n."
        assert not set(name) & set(" \"',;\n\r\t\\")


def test_a_name_that_is_no_unicode_is_shown_by_its_bytes() -> None:
    name = os.fsdecode(b"a\xff.jpg")
    assert shown(name) == "a\\xff.jpg"
    assert distinct_names([name]) == {name: "a_.jpg"}
