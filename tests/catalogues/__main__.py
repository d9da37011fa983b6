"""`python -m tests.catalogues [LANGUAGE…]` brings the catalogues in step with the code."""

import sys

from tests.catalogues.writing import FORMS, TRANSLATED, read, update


def main(languages: list[str]) -> None:
    """Update the catalogues of some languages, or of all."""
    for language in languages or TRANSLATED:
        update(language)
        for part, held in read(language).items():
            empty = sum(any(entry.get(form) == "" for form in FORMS) for entry in held.values())
            print(f"{language}/{part}.po: {len(held)} texts, {empty} to translate")


if __name__ == "__main__":
    main(sys.argv[1:])
