"""Which language a call is answered in, and that nothing but what is shown depends on it."""

import json
from pathlib import Path

import pytest
from tests.studies import plan

import lacre
from lacre import text
from lacre.cli import main
from lacre.text import Choice, chosen, reporting, speaking, tag_of


@pytest.fixture(autouse=True)
def _no_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LACRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("en", "en"), ("en_GB.UTF-8", "en"), ("pt", "pt-BR"), ("pt_BR.UTF-8", "pt-BR"), ("PT-br", "pt-BR"),
        ("pt-PT", "pt-BR"), ("es", "es-419"), ("es_MX", "es-419"), ("es-419", "es-419"), ("es_ES@euro", "es-419"),
        ("C", None), ("POSIX", None), ("fr_FR", None), ("", None), ("pts", None), ("e", None), ("UTF-8", None),
    ],
)  # fmt: skip
def test_a_language_is_known_by_its_tag_and_by_the_names_of_locales(name: str, tag: str | None) -> None:
    assert tag_of(name) == tag


@pytest.mark.parametrize(
    ("environment", "choice"),
    [
        ({}, Choice("en", asked=False)),
        ({"LANG": "pt_BR.UTF-8"}, Choice("pt-BR", asked=False)),
        ({"LANG": "pt_BR.UTF-8", "LC_MESSAGES": "es_AR.UTF-8"}, Choice("es-419", asked=False)),
        ({"LANG": "pt_BR", "LC_MESSAGES": "es_AR", "LC_ALL": "C.UTF-8"}, Choice("en", asked=False)),
        ({"LANG": "pt_BR", "LC_ALL": ""}, Choice("pt-BR", asked=False)),
        ({"LANG": "de_DE"}, Choice("en", asked=False)),
        ({"LANG": "pt_BR", "LACRE_LANG": "es"}, Choice("es-419", asked=True)),
        ({"LANG": "pt_BR", "LACRE_LANG": "en"}, Choice("en", asked=True)),
        ({"LANG": "pt_BR", "LACRE_LANG": ""}, Choice("pt-BR", asked=False)),
    ],
)
def test_the_environment_chooses_as_posix_has_it(environment: dict[str, str], choice: Choice) -> None:
    """POSIX.1, 8.2: of LC_ALL, LC_MESSAGES and LANG the first that is set and not empty counts, alone."""
    assert chosen(environment) == choice


@pytest.mark.parametrize(
    ("given", "protocol", "spoken"),
    [
        (Choice("en", asked=False), "pt-BR", "pt-BR"),
        (Choice("pt-BR", asked=False), "es-MX", "es-419"),
        (Choice("pt-BR", asked=False), "fr", "pt-BR"),
        (Choice("en", asked=True), "pt-BR", "en"),
        (Choice("es-419", asked=True), "en", "es-419"),
    ],
)
def test_a_report_is_in_its_protocol_s_language_unless_another_was_asked_for(
    given: Choice, protocol: str, spoken: str
) -> None:
    with speaking(given):
        with reporting(protocol):
            assert text.language() == spoken
        assert text.language() == given.language


def test_what_is_asked_for_comes_before_the_variable_and_the_locale(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str) -> str:
        assert main([*arguments]) == 2
        return capsys.readouterr().err

    english, portuguese, spanish = (refused("status", "--lang", tag) for tag in ("en", "pt", "es_MX.UTF-8"))
    assert len({english, portuguese, spanish}) == 3
    assert refused("status") == english
    monkeypatch.setenv("LANG", "pt_BR.UTF-8")
    assert refused("status") == portuguese
    monkeypatch.setenv("LACRE_LANG", "es")
    assert refused("status") == spanish
    assert refused("status", "--lang=en") == english
    assert text._Process.choice is None


@pytest.mark.parametrize("as_json", [False, True])
def test_a_language_that_lacre_does_not_speak_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    def refusal(*arguments: str) -> str:
        assert main([*arguments, *(["--json"] if as_json else [])]) == 2
        written = capsys.readouterr()
        if not as_json:
            return written.err
        assert json.loads(written.out)["error"]["code"] == "usage-language"
        return str(json.loads(written.out)["error"]["message"])

    assert "'fr'" in refusal("status", "--lang", "fr")
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert "'fr" not in refusal("status", "--lang", "klingon")
    monkeypatch.setenv("LACRE_LANG", "fr")
    assert "LACRE_LANG" in refusal("status")
    # The variable's fault is not one where the option says better.
    assert main(["new", "--lang", "en"]) == 0


def test_the_value_of_another_option_is_no_language(capsys: pytest.CaptureFixture[str]) -> None:
    """`--reason` takes the next word, whatever it looks like; what follows is then an argument too many."""
    assert main(["withdraw", "s", "--reason", "--lang", "xx"]) == 2
    assert "xx" in capsys.readouterr().err


def test_a_result_is_told_in_its_protocol_s_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`Result`, `Resultado`: and the page says so of itself, whatever else is Portuguese in it."""
    (tmp_path / "plan.yaml").write_text(plan(study="s").replace("language: en", "language: pt-BR"))
    cases = [(f"c{n}", n % 2, ("female", "male")[n // 2 % 2]) for n in range(40)]
    (tmp_path / "cases.csv").write_text(
        "case_id,label,sex\n" + "".join(f"{i},{y},{s}\n" for i, y, s in cases)
    )
    (tmp_path / "given.csv").write_text("case_id,prediction\n" + "".join(f"{i},{y}\n" for i, y, _s in cases))
    for line in ("init", "register plan.yaml", "seal s teste cases.csv"):
        assert main(line.split()) == 0

    def shown(line: str) -> str:
        capsys.readouterr()
        assert main(line.split()) in {0, 3}
        return capsys.readouterr().out

    shown("reveal s --submission given.csv")
    english, portuguese = (
        "Confirmatory: the first read of teste",
        "Confirmatório: a primeira leitura de teste",
    )
    assert portuguese in " ".join(shown("show s@4").split())
    assert english in " ".join(shown("show s@4 --lang en").split())
    assert "Registered at entry" in shown("show s")
    monkeypatch.setenv("LANG", "es_MX.UTF-8")
    assert portuguese in " ".join(shown("show s@4").split())
    assert "Registrado en la entrada" in shown("show s")
    for given, tag in (("", "pt-BR"), (" --lang es", "es-419"), (" --lang en", "en")):
        shown(f"report s@4 -o {tag}.html{given}")
        assert f'<html lang="{tag}">' in (tmp_path / f"{tag}.html").read_text(encoding="utf-8")
    with lacre.open(tmp_path) as ledger:
        result = ledger.show("s@4")
        assert portuguese in " ".join(str(result).split())
        monkeypatch.setattr(text._Process, "choice", None)
        lacre.use_language("es_AR")
        assert "Confirmatorio: la primera lectura de teste" in " ".join(str(result).split())
    with pytest.raises(lacre.errors.LanguageUnknown):
        lacre.use_language("fr")
