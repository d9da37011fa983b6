"""Every text that people read is in every catalogue, and says the same in it as far as a program can tell."""

import ast
import re
from pathlib import Path

import click
import pytest
from tests.catalogues.texts import Text, texts
from tests.catalogues.writing import FORMS, TRANSLATED, path_of, read, written
from tests.judging import RIVALS

from lacre.cli import click_words
from lacre.locale.reading import PARTS, Catalogue, Entry, entries
from lacre.text import LANGUAGES, LOCALES

ROOT = Path(__file__).resolve().parents[2]
POOLS = ("dev", "teste", "contraste", "guarda", "corpus")
LETTERS = re.compile(r"[^\W\d_]{3,}")
TEXTS = {text.one: text for text in texts()}


def pairs(language: str) -> list[tuple[str, str, str]]:
    """Each translated form: the part it is in, the English and the translation."""
    found = []
    for part, held in read(language).items():
        for one, entry in held.items():
            english = (one, one, entry.get("msgid_plural", ""))
            found += [
                (part, text, entry[form]) for form, text in zip(FORMS, english, strict=True) if form in entry
            ]
    return found


def fields(text: str) -> set[str]:
    """Return the fields of a template; braces around more than a name and a form are no field."""
    return set(re.findall(r"{\w*(?:![rsa])?(?::[^{}\s]*)?}", text))


def kept(text: str) -> set[str]:
    """What no translation alters: code, options, files and variables, states, pools."""
    bare = re.sub(r"`[^`]*`", " ", text)
    bare = re.sub(r"{[^}]*}", " ", bare)
    return {
        *re.findall(r"`[^`]*`", text),
        *re.findall(r"(?<!\w)--[a-z][a-z-]*", bare),
        *re.findall(r"\b[A-Z][A-Z_]{2,}[A-Z]\b", bare),
        *(word for word in re.findall(r"[a-z]+", bare) if word in POOLS),
    }


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_has_the_texts_of_the_code_and_no_others(language: str) -> None:
    """`python -m tests.catalogues` brings them in step; what it leaves empty is to be translated."""
    held = {
        one: (part, entry.get("msgid_plural"))
        for part, known in read(language).items()
        for one, entry in known.items()
    }
    assert held == {one: (text.part, text.many) for one, text in TEXTS.items()}
    assert [words for part, words, said in pairs(language) if not said] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_the_fields_and_the_code_of_its_text(language: str) -> None:
    wrong = [
        (words, said)
        for _part, words, said in pairs(language)
        if said and (fields(words) != fields(said) or not kept(words) <= kept(said) or added(words, said))
    ]
    assert wrong == []


def added(text: str, said: str) -> set[str]:
    """Return what a translation has of this and its text has not; some pools are words of these languages."""
    return kept(said) - kept(text) - set(POOLS)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_begins_and_ends_as_its_text(language: str) -> None:
    """Blanks and breaks at the ends join texts to others; a full stop or colon says what comes next."""

    def frame(text: str) -> tuple[str, str, int]:
        end = text.rstrip()[-1:]
        return text[: len(text) - len(text.lstrip())], end if end in ".:;?!…," else "", text.count("\n")

    assert [
        (words, said) for _part, words, said in pairs(language) if said and frame(words) != frame(said)
    ] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_sentence_is_left_in_english(language: str) -> None:
    """Words alike in two languages there are, and names of people; sentences alike there are none."""
    bare = re.compile(r"`[^`]*`|{[^}]*}|[A-Z][a-z]+(-[A-Z][a-z]+)+")
    left = [
        words
        for _part, words, said in pairs(language)
        if said == words and len(LETTERS.findall(bare.sub(" ", words))) > 2
    ]
    assert left == []


def test_agreement_with_a_judge_is_called_nothing_else() -> None:
    """The texts of the code, in each language; what is written to be filled in, and the pages that are read first."""
    texts_of_code = [*TEXTS, *(text.many for text in TEXTS.values() if text.many)]
    translated = [said for language in TRANSLATED for _part, _words, said in pairs(language)]
    pages = [*ROOT.glob("README*.md"), *(ROOT / "src").rglob("*.yaml")]
    assert len(pages) > len(LANGUAGES)
    said = [*texts_of_code, *translated, *(path.read_text(encoding="utf-8") for path in pages)]
    assert [words for words in said if RIVALS.search(words)] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_files_are_as_the_tool_writes_them(language: str) -> None:
    """In order and in one form, so that two people's changes merge."""
    for part in PARTS:
        text = path_of(language, part).read_text(encoding="utf-8")
        listed = list(entries(text))
        assert text == written(language, listed[1:])
        assert [entry["msgid"] for entry in listed] == sorted(entry["msgid"] for entry in listed)


def test_an_entry_of_each_form_is_read_as_gettext_would() -> None:
    """By hand, from the manual of GNU gettext ("The Format of PO Files"): parts of a string are joined."""
    text = (
        '# a comment\nmsgid ""\nmsgstr ""\n"Language: xx\\n"\n\n'
        '#, fuzzy\nmsgid "a \\"b\\"\\n"\n"c\\\\n"\nmsgstr "d\\té"\n\n'
        'msgid "one"\nmsgid_plural "{n}"\nmsgstr[0] "eins"\nmsgstr[1] "viele"\n'
    )
    assert list(entries(text)) == [
        {"msgid": "", "msgstr": "Language: xx\n"},
        {"msgid": 'a "b"\nc\\n', "msgstr": "d\té"},
        {"msgid": "one", "msgid_plural": "{n}", "msgstr[0]": "eins", "msgstr[1]": "viele"},
    ]
    for broken in ('"of nothing"', 'msgid "open', 'msgctxt "no"', "msgid none"):
        with pytest.raises(ValueError, match=re.escape(broken)):
            list(entries(broken))


def test_a_part_is_read_when_a_text_is_asked_for_that_no_earlier_one_has(tmp_path: Path) -> None:
    listed: dict[str, list[Entry]] = {part: [] for part in PARTS}
    listed["cli"] = [{"msgid": "a", "msgstr": "A"}, {"msgid": "empty", "msgstr": ""}]
    listed["errors"] = [{"msgid": "b", "msgid_plural": "bs", "msgstr[0]": "B", "msgstr[1]": "Bs"}]
    for part, own in listed.items():
        (tmp_path / f"{part}.po").write_text(written("xx", own))
    catalogue = Catalogue(tmp_path)
    assert catalogue.find("a") == "A"
    assert len(catalogue._unread) == len(PARTS) - 1
    assert (catalogue.find("b"), catalogue.find("b", plural=True)) == ("B", "Bs")
    assert catalogue.find("empty") is None
    assert catalogue.find("unknown") is None
    assert catalogue._unread == []


def test_every_word_that_click_may_say_is_known() -> None:
    """click's texts in the modules that the verbs go through, but for those of what no verb has."""
    foreign = {
        "(Deprecated) {text}", "deprecated", "(dynamic)", "Value must be an iterable.", "Do you want to continue?",
        "Confirm the action without prompting.", "%(prog)s, version %(version)s", "Show the version and exit.",
        "unknown error", "Could not open file {filename!r}: {message}", "Error: {message}",
        "Try '{command} {option}' for help.", "Invalid start character for option ({option})", "file", "directory",
        "path", "Choice({choices})", "{value!r} is not a valid UUID.", "{name} {filename!r} is a file.",
        "{name} {filename!r} is a directory.", "{name} {filename!r} is not readable.",
        "{name} {filename!r} is not writable.", "{name} {filename!r} is not executable.",
        "{name} {filename!r} does not exist.",
    }  # fmt: skip
    refused = re.compile(
        r"^DeprecationWarning|^No options defined|declaration|defined twice|oolean|format {|{len_type}"
    )
    said = set()
    for module in ("core", "exceptions", "formatting", "parser", "types", "decorators"):
        source = Path(click.__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"_", "ngettext"}
            ):
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    said.add(str(first.value))
    known = {*click_words.TEXTS, *(one for one, _many in click_words.PLURALS)}
    assert {each for each in said - foreign if not refused.search(each)} - known == set()


def test_the_catalogues_come_with_the_package() -> None:
    assert {path.name for path in LOCALES.iterdir() if path.is_dir()} - {"__pycache__"} == set(TRANSLATED)
    assert isinstance(next(iter(TEXTS.values())), Text)
