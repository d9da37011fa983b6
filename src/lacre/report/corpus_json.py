"""An open pool as JSON: a part that was committed, the pool in its study, and the parts in a result's story."""

import dataclasses

from lacre.audit.story import Story
from lacre.broker.groundwork import PartKept
from lacre.report.values import Document, lists, wires
from lacre.rules.state import CorpusState


def kept(made: PartKept) -> Document:
    """Return a part that was committed."""
    return {
        "study": made.study,
        "pool": made.pool,
        "part": made.part,
        "entry": made.entry,
        "time": made.time,
        "open": made.reason,
        "rows": dict(made.rows),
        "absent": dict(made.absent),
        "undeclared": lists(made.undeclared),
        "outside": dict(made.outside),
        "files": [f"sha256:{digest}" for digest in made.files],
        "shortfall": wires(made.shortfall),
        "overlaps": wires(made.overlaps),
        "remembered": made.remembered,
        "next": made.next,
        "warnings": list(made.warnings),
    }


def pool(corpus: CorpusState) -> Document:
    """Return an open pool as it stands, its reads apart."""
    return {
        "now": corpus.standing,
        "parts": [
            {
                "part": made.request.part,
                "entry": made.entry,
                "time": made.time,
                "by": made.by,
                "rows": dict(made.facts.rows),
                "absent": dict(made.facts.absent),
                "files": [
                    {**file.as_json(), "sha256": f"sha256:{file.sha256}"} for file in made.request.files
                ],
            }
            for made in corpus.parts
        ],
        "rows": dict(corpus.cases.facts.rows),
        "shortfall": wires(corpus.shortfall),
    }


def told(story: Story) -> Document:
    """Return the parts that a result's story tells of; nothing of a sealed pool's."""
    parts = [{**dataclasses.asdict(each), "files": list(each.files)} for each in story.parts]
    grown = [dataclasses.asdict(each) for each in story.versions]
    return {"parts": parts, **({"versions": grown} if grown else {})} if parts else {}
