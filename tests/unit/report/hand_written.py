"""A result with an analysis of every kind, written by hand: hostile names, zeros, blanks and all that can be absent."""

import dataclasses
from typing import Any

from lacre.broker.outcomes import ResultShown

HOSTILE = "\"><script>alert(1)</script>\u202e& 'x'"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
RIGHT_TO_LEFT = "مجموعة"
WITHHELD = {"code": "withheld", "fields": {"min_count": 5}}
NO_CASES = {"code": "no-cases", "fields": {}}

Document = dict[str, Any]


def share(
    metric: str, group: Document, events: int, cases: int, low: float, high: float, **more: Any
) -> Document:
    """A rate of counted cases; none counted has its one-sided bound."""
    bound = {"rule_of_three": min(3 / cases, 1.0), "exact": 1 - 0.05 ** (1 / cases), "confidence": 0.95}
    return {
        "metric": metric,
        "system": "atual",
        "group": group,
        "numerator": events,
        "denominator": cases,
        "missing": 0,
        "value": events / cases,
        "low": low,
        "high": high,
        "confidence": 0.95,
        "simultaneous": 4,
        "method": "wilson on effective sample size",
        "note": None,
        "zero_bound": None if events else bound,
        **more,
    }


def absent(metric: str, group: Document, note: Document, cases: int | None = None) -> Document:
    """A rate that cannot be estimated, or is withheld."""
    nothing = dict.fromkeys(("numerator", "value", "low", "high", "confidence", "method", "zero_bound"))
    return {
        "metric": metric,
        "system": "atual",
        "group": group,
        **nothing,
        "denominator": cases,
        "note": note,
    }


def measure(
    metric: str, scale: str, value: float | None, low: float | None, high: float | None, **more: Any
) -> Document:
    """Any other number with its interval."""
    return {
        "metric": metric,
        "system": "atual",
        "group": {},
        "numerator": None,
        "denominator": 400,
        "value": value,
        "low": low,
        "high": high,
        "confidence": 0.95,
        "simultaneous": 1,
        "method": "cluster bootstrap, percentile",
        "note": None,
        "scale": scale,
        "unit": None,
        **more,
    }


def line(estimate: Document, state: str, code: str) -> Document:
    """A criterion's line of an estimate."""
    kept = ("group", "numerator", "denominator", "value", "low", "high")
    return {
        **{name: estimate[name] for name in kept},
        "state": state,
        "reason": {"code": code, "fields": {"threshold": 0.8}},
        "missing": estimate.get("missing"),
    }


def criterion(name: str, metric: str, rule: str, threshold: float, state: str, **more: Any) -> Document:
    """A criterion, decided."""
    return {
        "id": name,
        "metric": metric,
        "system": "atual",
        "by": [],
        "rule": rule,
        "threshold": threshold,
        "state": state,
        "reason": {"code": "review-registered", "fields": {}},
        "value": None,
        "low": None,
        "high": None,
        "groups": [],
        "left_out": [],
        **more,
    }


def analysis(
    name: str, kind: str, state: str, criteria: list[Document], estimates: list[Document], **more: Any
) -> Document:
    """An analysis."""
    return {
        "id": name,
        "kind": kind,
        "state": state,
        "confirmatory": True,
        "rows": 1800,
        "estimates": estimates,
        "criteria": criteria,
        "calibration": [],
        "left_out": [],
        "notes": [],
        **more,
    }


def recall() -> Document:
    """Recall by crossed strata: one missed, one undecided, one without a case, one withheld; and by pose."""
    rates = [
        share("recall", {"age": "bebe", "height": "grande"}, 171, 190, 0.8493, 0.9350),
        share("recall", {"age": "adulto", "height": "grande"}, 640, 672, 0.9331, 0.9661),
        share("recall", {"age": HOSTILE, "height": "pequena"}, 60, 92, 0.5494, 0.7427),
        share("recall", {"age": LONG, "height": RIGHT_TO_LEFT}, 41, 48, 0.7282, 0.9275),
    ]
    none = absent("recall", {"age": "idoso", "height": "pequena"}, NO_CASES, 0)
    few = absent("recall", {"age": "idoso", "height": "media"}, WITHHELD)
    poses = [
        share("recall", {"pose": "frontal"}, 900, 1000, 0.8799, 0.9171),
        share("recall", {"pose": "perfil"}, 0, 119, 0.0, 0.0313),
    ]
    states = ("PASS", "PASS", "FAIL", "INSUFFICIENT_EVIDENCE")
    codes = ("within", "within", "beyond", "open")
    lines = [line(rate, state, code) for rate, state, code in zip(rates, states, codes, strict=True)]
    undecided = {"state": "INSUFFICIENT_EVIDENCE"}
    lines += [{**line(each, "", ""), **undecided, "reason": each["note"]} for each in (none, few)]
    worst = criterion(
        "worst-cell", "recall", "worst_group_min", 0.8, "FAIL", by=["age", "height"], groups=lines
    )
    worst |= {"value": 60 / 92, "low": 0.5494, "high": 0.7427}
    worst["reason"] = {"code": "floor-broken", "fields": {"high": 0.7427, "threshold": 0.8, "group": HOSTILE}}
    gap = criterion(
        "bebes", "stratum_difference", "min", -0.05, "INSUFFICIENT_EVIDENCE", scale="difference", unit=None
    )
    gap |= {"value": -0.052, "low": -0.091, "high": -0.013}
    whole = [
        share("recall", {}, 1771, 1931, 0.9040, 0.9287),
        measure("recall_weighted", "share", 0.9011, 0.88, 0.92),
    ]
    left = [{"reason": "missing", "column": HOSTILE, "count": 31}]
    return analysis(
        "recall", "recall", "FAIL", [worst, gap], [*whole, *rates, none, few, *poses], left_out=left
    )


def protective() -> Document:
    """A failure rate with nothing counted."""
    rate = share("protective_failure", {}, 0, 119, 0.0, 0.0313)
    queue = criterion("queue", "protective_failure", "max", 0.05, "PASS", value=0.0, low=0.0, high=0.0313)
    return analysis("protective-failure", "protective_failure", "PASS", [queue], [rate])


def pair(
    variant: str, counts: tuple[int, int, int, int], interval: tuple[float, float, float], **more: Any
) -> Document:
    """A row of pairs: both, the first only, the second only, neither; the difference with its interval."""
    names = ("both", "first_only", "second_only", "neither")
    return {
        "system": "atual",
        "variant": variant,
        "baseline": "original",
        "pairs": sum(counts),
        "clusters": 300,
        **dict(zip(names, counts, strict=True)),
        **dict(zip(("difference", "low", "high"), interval, strict=True)),
        "confidence": 0.9833,
        "method": "cluster bootstrap, percentile",
        "test": "mcnemar_exact",
        "p": 0.0625,
        "p_adjusted": 0.125,
        "p_exact": 0.0625,
        "p_mid": 0.03125,
        "power": 0.74,
        "simultaneous": 3,
        "needed": 6,
        "blank": 4,
        "note": None,
        **more,
    }


def amplification() -> Document:
    """Pairs over variants, one of them without a discordant pair, and two systems."""
    nothing = {"code": "no-cases", "fields": {}}
    rows = [
        pair("jpeg-30", (794, 150, 86, 570), (-0.04, -0.0592, -0.0211), p=3.7159e-05, p_adjusted=1.1e-4),
        pair(
            "gama-0.5", (30, 0, 0, 0), (0.0, -0.0952, 0.0952), p=1.0, p_adjusted=1.0, power=None, note=nothing
        ),
        pair(HOSTILE, (0, 0, 0, 0), (None, None, None), p=None, p_adjusted=None, note=nothing),  # type: ignore[arg-type]
    ]
    jpeg = criterion(
        "jpeg", "difference", "min", -0.05, "INSUFFICIENT_EVIDENCE", scale="difference", unit=None
    )
    jpeg |= {"value": -0.04, "low": -0.0592, "high": -0.0211, "details": {"variant": "jpeg-30"}}
    differences = [
        measure(
            "difference",
            "difference",
            each["difference"],
            each["low"],
            each["high"],
            details={"variant": each["variant"]},
        )
        for each in rows
        if each["difference"] is not None
    ]
    return analysis(
        "amplification",
        "paired_variants",
        "INSUFFICIENT_EVIDENCE",
        [jpeg],
        differences,
        tables={"paired": rows},
    )


GROUPS = ("grupo-a", "grupo-b", HOSTILE, LONG)


def differential() -> Document:
    """Verification on three rungs, the last not run, with curves; one group has no impostor, one is withheld."""
    rungs, det, operating, groups, targets, estimates = [], [], [], [], [], []
    for place, rung in enumerate(("nenhuma", "z-norm")):
        for number, group in enumerate(GROUPS):
            own = {"system": "atual", "rung": rung, "group": {"group": group}}
            bend = 0.002 * (number + 1) / (place + 1)
            points = [
                [10 ** (-4 + step / 8), min(0.99, bend / 10 ** (0.7 * (-4 + step / 8)))] for step in range(25)
            ]
            det.append({**own, "points": [] if number == 3 else [*points, [1.0, 0.0]]})
            at = (
                {"fmr": None, "fnmr": None}
                if number == 3
                else {"fmr": 0.0 if number == 2 else points[12][0], "fnmr": points[12][1]}
            )
            operating.append({**own, **at, "threshold": 0.4125})
            counts = (3000, 21 * number, 9, 3) if number != 3 else (12, 0, None, None)
            names = ("genuine", "false_non_match", "abstained", "false_match")
            groups.append(
                {**own, **dict(zip(names, counts, strict=True)), "impostor": 140 if number == 2 else 3000}
            )
            targets.append(
                {
                    **own,
                    "target": "false_match",
                    "at": 0.001,
                    "threshold": None if number == 3 else 0.4 + number / 50,
                    "events": 3,
                    "cases": 3000,
                    "achieved": 0.001,
                    "low": 0.0002,
                    "high": 0.0029,
                    "other_rate": 0.021,
                    "other_events": 63,
                    "other_cases": 3000,
                    "unresolved": number == 3,
                }
            )
            made = share(
                "false_match",
                {"group": group},
                0 if number == 2 else 5 * number + 1,
                140 if number == 2 else 3000,
                0.0,
                0.01,
            )
            estimates.append(
                {**made, "low": 0.0, "high": max(0.01, made["value"] + 0.005), "details": {"rung": rung}}
            )
        ratio = {
            "id": "fmr-ratio",
            "state": "FAIL" if place == 0 else "PASS",
            "value": 4.2 - 2 * place,
            "threshold": 3.0,
        }
        far = {"id": "limiar", "state": "PASS", "value": 0.02, "low": 0.01, "high": 0.04, "threshold": 0.05}
        ends = {"low": 3.1, "high": 7.7} if place == 0 else {"low": 1.2, "high": 2.9}
        rungs.append(
            {
                "system": "atual",
                "rung": rung,
                "kind": "z_norm",
                "ran": True,
                "state": ratio["state"],
                "criteria": [{**ratio, **ends}, far],
            }
        )
    rungs.append(
        {"system": "atual", "rung": "treino", "kind": "training", "ran": False, "state": None, "criteria": []}
    )
    details = {"rung": "z-norm"}
    ratio_ = criterion(
        "fmr-ratio", "false_match", "max_group_ratio", 3.0, "PASS", by=["group"], scale="ratio", unit=None
    )
    ratio_ |= {"value": None, "low": 1.2, "high": None, "details": {**details, "form": "max_min"}}
    ratio_["groups"] = [line(each, "PASS", "within") for each in estimates[4:]]
    far_ = criterion("limiar", "threshold_distance", "max", 0.05, "PASS", scale="score", unit="cosine")
    far_ |= {
        "value": 0.02,
        "low": 0.01,
        "high": 0.04,
        "details": {"at": 0.01, "rung": "z-norm", "target": "false_match"},
    }
    apart = measure("threshold_distance", "score", 0.02, 0.01, 0.04, unit="cosine", details=far_["details"])
    between = {"group": {"group": "grupo-a"}, "versus": {"group": HOSTILE}}
    measures = [apart, measure("false_match_ratio", "ratio", None, 2.2743, None, **between, details=details)]
    own_tables = {"groups": groups, "targets": targets, "det": det, "operating": operating, "rungs": rungs}
    return analysis(
        "differential", "verification", "PASS", [ratio_, far_], [*estimates, *measures], tables=own_tables
    )


def agreement() -> Document:
    """Two passes over the same labels."""
    row = {
        "column": "age",
        "values": ["bebe", HOSTILE],
        "counts": [[60, 5], [10, 25]],
        "n": 100,
        "agree": 85,
        "raw": 0.85,
        "low": 0.767164,
        "high": 0.906940,
        "kappa": 0.6591,
        "kappa_low": 0.5,
        "kappa_high": 0.81,
        "disagreement": 0.15,
        "floor": 0.2328,
    }
    sparse = {"column": "monk", "n": 0, "agree": 0, "raw": None, "low": None, "high": None, "kappa": None}
    kappa = measure("kappa", "kappa", 0.6591, 0.5, 0.81, details={"column": "age"})
    return analysis(
        "consigo-mesma", "self_agreement", "PASS", [], [kappa], tables={"agreement": [row, sparse]}
    )


def judged(dimension: str, group: Document, counts: list[list[int]] | None, **more: Any) -> Document:
    """One line of a judge's agreement."""
    table = counts or []
    whole = sum(map(sum, table))
    agree = sum(row[place] for place, row in enumerate(table))
    raw = (
        {"raw": agree / whole, "raw_low": 0.5, "raw_high": 1.0, "raw_method": "wilson"}
        if whole
        else {"raw": None}
    )
    return {
        "dimension": dimension,
        "human": "humano",
        "judge": "juiz",
        "group": group,
        "use": "diagnostic" if group else "pooled",
        "bins": ["infiel", HOSTILE, "sólido"],
        "counts": counts,
        "human_marginal": [sum(row) for row in table] if counts else None,
        "judge_marginal": [sum(column) for column in zip(*table, strict=True)] if counts else None,
        "prevalence_index": [0.6, 0.85, 0.75] if whole else None,
        "bias_index": [0.0, 0.05, 0.05] if whole else None,
        "n": whole,
        "agree": agree,
        **raw,
        **{
            f"{name}{end}": None
            for name in ("kappa", "gwet", "pabak")
            for end in ("", "_low", "_high", "_note")
        },
        "gwet_name": "ac2",
        "confidence": 0.95,
        "undefined_resamples": 0,
        "paradox": None,
        **more,
    }


def calibration() -> Document:
    """A judge on two dimensions, one of them a paradox; of one locale nothing can be estimated."""
    kappa = {"kappa": 0.7222, "kappa_low": 0.5712, "kappa_high": 0.8511}
    method = "bootstrap, percentile, 10000 resamples, seed 20260613"
    beside = {
        "gwet": 0.8955,
        "gwet_low": 0.83,
        "gwet_high": 0.95,
        "pabak": 0.835,
        "pabak_low": 0.7,
        "pabak_high": 0.9,
    }
    paradox = {"bin": "infiel", "human": 0.918, "judge": 0.783, "bar": 0.6}
    rows = [
        judged("fidelidade", {}, [[75, 1, 4], [5, 4, 1], [0, 0, 10]], **kappa, **beside, kappa_method=method),
        judged("fidelidade", {"locale": "pt-BR"}, [[0, 0, 0]] * 3, kappa_note=NO_CASES),
        judged(
            LONG, {}, [[118, 5, 0], [2, 0, 0], [0, 0, 0]], **{**kappa, "kappa": 0.0}, **beside, kappa_method=method,
            paradox=paradox, undefined_resamples=12, kappa_note={"code": "resamples-alike", "fields": {}},
        ),
        judged(LONG, {"locale": "en"}, None, n=30),
    ]  # fmt: skip
    details = {"dimension": "fidelidade", "decide_on": "point"}
    bar = criterion("fidelidade", "kappa", "min", 0.6, "PASS", scale="kappa", unit=None)
    bar |= {"value": 0.7222, "low": 0.5712, "high": 0.8511, "details": details}
    pooled = measure("kappa", "kappa", 0.7222, 0.5712, 0.8511, details={"dimension": "fidelidade"})
    of_group = {"group": {"locale": "en"}, "details": {"dimension": "fidelidade", "use": "diagnostic"}}
    numbers = [pooled, measure("kappa", "kappa", 0.4, 0.1, 0.7, **of_group)]
    found = analysis("juiz", "judge_agreement", "PASS", [bar], numbers, tables={"judge_agreement": rows})
    notes = [{"code": "paradox", "fields": {"dimension": LONG, "bin": "infiel", "bar": 0.6}}]
    return {**found, "notes": [*(found.get("notes") or ()), *notes]}


def survey() -> Document:
    """A mean and a total, with the design, and a table that no version knows yet."""
    numbers = [
        measure("mean", "number", 662.287363, 643.846, 680.728, unit="api00"),
        measure("total", "number", 3687177.53, 3462480.0, 3911875.0, unit=None),
    ]
    design = [
        {"stratum": name, "population": 4421, "drawn": 100, "respondents": None} for name in ("E", HOSTILE)
    ]
    later = [{"what": HOSTILE, "shares": [0.25, None], "more": {"deep": 1}}]
    return analysis("api", "estimate", "PASS", [], numbers, tables={"design": design, "later_kind": later})


def every_kind() -> list[Document]:
    """An analysis of each kind."""
    return [recall(), protective(), amplification(), differential(), agreement(), calibration(), survey()]


def shown(real: ResultShown) -> ResultShown:
    """A result of every kind, in the place of one that is real."""
    thresholds = [
        {"name": "detector", "system": "atual", "value": 0.4125, "entry": 7},
        {"name": "matcher", "system": None, "value": 0.5, "unit": "cosine", "entry": None},
    ]
    document = {**real.document, "state": "FAIL", "analyses": every_kind(), "thresholds": thresholds}
    return dataclasses.replace(real, document=document, language="pt-BR")
