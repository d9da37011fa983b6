"""What an id may be written as in a text, and which ids can hardly be anything else."""

import pytest

from lacre.pools.traces import is_telling, pieces, unescape


@pytest.mark.parametrize(
    "text",
    [
        "CASE-0012",
        "see CASE-0012.",
        "a,CASE-0012,0.5",
        "a;'CASE-0012';0.5",
        "a\tCASE-0012\t0.5",
        '{"id": "CASE-0012", "n": 1}',
        "ids=[CASE-0012]",
        "/srv/images/CASE-0012.png",
        "C:\\images\\CASE-0012.jpeg",
        "img_CASE-0012_grey.png CASE-0012_",
        "`CASE-0012`: not found!",
        "https://example.org/a/CASE-0012?x=1",
        "(CASE-0012)",
        "<td>CASE-0012</td>",
        "key:CASE-0012 took 3 s",
    ],
)
def test_an_id_is_found_wherever_it_stands(text: str) -> None:
    assert "CASE-0012" in set(pieces(text))


def test_an_id_with_blanks_is_found_as_a_cell_and_between_quotes() -> None:
    assert "Ward 7 bed 0012" in set(pieces("x, Ward 7 bed 0012 ,y"))
    assert "Ward 7, bed 0012" in set(pieces('x,"Ward 7, bed 0012",y'))


@pytest.mark.parametrize("piece", ["CASE-0012", "20240131000017", "1234567", "a1b2c3", "constantinople"])
def test_long_and_mixed_ids_are_looked_for(piece: str) -> None:
    assert is_telling(piece)


@pytest.mark.parametrize("piece", ["", "17", "2026", "case", "x1", "utf8", "v2.0.1", "prediction", "a" * 300])
def test_what_any_text_holds_by_chance_is_not(piece: str) -> None:
    assert not is_telling(piece)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (r"caf\u00e9\n", "café "),
        (r"a\"b\"", 'a"b"'),
        (r"C:\\x", "C:\\x"),
        (r"\ud83d\ude00", "\N{GRINNING FACE}"),
        (r"half \ud83d", "half \N{REPLACEMENT CHARACTER}"),
        ("plain", "plain"),
    ],
)
def test_escapes_of_notebooks_and_logs_are_undone(line: str, text: str) -> None:
    assert unescape(line) == text
