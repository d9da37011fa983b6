"""The style of reports: two palettes, one sheet, and how it reads printed, on a phone and in a notebook.

Every rule is held to the report's own element, so that a notebook's other outputs stay as they are. No colour says
anything alone: verdicts are words, marks have shapes, curves have dashes.
"""

from collections.abc import Mapping
from types import MappingProxyType

SCOPE = "lacre-report"

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#ffffff",
        "card": "#f6f4f1",
        "ink": "#1d1b19",
        "soft": "#5a554f",
        "rule": "#d8d2ca",
        "seal": "#8c1d2f",
        "pass": "#1a6436",
        "fail": "#b01c1c",
        "open": "#7d5200",
        "review": "#6537a0",
        "one": "#005a9c",
        "two": "#b04400",
        "three": "#006b55",
        "four": "#982a78",
        "five": "#66600a",
    }
)
DARK: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#171614",
        "card": "#22201d",
        "ink": "#ece8e1",
        "soft": "#b5aea4",
        "rule": "#47423b",
        "seal": "#f0919f",
        "pass": "#74d193",
        "fail": "#ff948a",
        "open": "#e9b950",
        "review": "#c9a6f5",
        "one": "#70b8f3",
        "two": "#ff9f60",
        "three": "#52d1b2",
        "four": "#f092d1",
        "five": "#d8d04e",
    }
)
GROUNDS = ("paper", "card")
WORDS = ("ink", "soft", "seal", "pass", "fail", "open", "review")
"""Colours that text has: on either ground WCAG AA, 4.5 to 1."""
LINES = ("one", "two", "three", "four", "five")
"""Colours of curves: on either ground 3 to 1."""
DASHES = ("none", "9 4", "2 4", "12 4 2 4", "5 2 5 8", "1 2")
"""Dashes of curves. Two curves share theirs after six and their colour after five, so both after thirty."""

_SHEET = """
§ { background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Noto Sans", "Liberation Sans", Arial, sans-serif; text-align: start; overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; box-sizing: border-box; padding: 1.25rem 1rem 2rem; }
§ *, § *::before { box-sizing: border-box; }
§ .sheet { max-width: 60rem; margin: 0 auto; }
§ p, § ul, § dl, § figure, § pre { margin: 0 0 .75rem; padding: 0; }
§ .t1, § .t2, § .t3, § .t4 { color: var(--ink); font-family: Charter, "Bitstream Charter", "Iowan Old Style",
  Georgia, "Noto Serif", "Liberation Serif", serif; font-weight: 700; line-height: 1.2; letter-spacing: 0; }
§ .t1 { font-size: clamp(1.5rem, 1.1rem + 2vw, 2.25rem); margin: .25rem 0 .5rem; }
§ .t2 { font-size: 1.35rem; margin: 2.5rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--rule); }
§ .t3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
§ .t4 { font: inherit; font-weight: 700; margin: 1.25rem 0 .35rem; }
§ header { border-top: .3rem solid var(--seal); padding-top: .75rem; }
§ .kicker { color: var(--seal); font-size: .8rem; font-weight: 700; letter-spacing: .08em; text-transform: uppercase;
  margin: 0; }
§ .question { font-size: 1.1rem; color: var(--soft); max-width: 44rem; }
§ .soft, § figcaption { color: var(--soft); font-size: .875rem; }
§ p, § li, § dd { max-width: 46rem; }
§ ul { padding-left: 1.2rem; list-style: disc outside; }
§ li { margin: 0 0 .3rem; }
§ code, § pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .85em; }
§ code { background: var(--card); padding: .1em .3em; border-radius: 3px; color: inherit; }
§ pre { background: var(--card); color: inherit; padding: .75rem 1rem; border-radius: 4px; white-space: pre-wrap;
  overflow-wrap: anywhere; line-height: 1.45; border: 0; }
§ .verdict { border: 1px solid var(--rule); border-left: .4rem solid var(--soft); background: var(--card);
  padding: 1rem 1.1rem .35rem; margin: 1.25rem 0; border-radius: 3px; }
§ .verdict .state { font-size: 1.35rem; margin: 0 0 .35rem; }
§ .verdict.pass { border-left-color: var(--pass); } § .verdict.fail { border-left-color: var(--fail); }
§ .verdict.open { border-left-color: var(--open); } § .verdict.review { border-left-color: var(--review); }
§ .state { font-weight: 700; white-space: nowrap; letter-spacing: .01em; }
§ .state.long { white-space: normal; overflow-wrap: normal; }
§ .state.pass { color: var(--pass); } § .state.fail { color: var(--fail); }
§ .state.open { color: var(--open); } § .state.review { color: var(--review); }
§ .sign { display: inline-block; width: 1.15em; font-family: "DejaVu Sans", "Segoe UI Symbol", sans-serif; }
§ .warn { border-left: .25rem solid var(--open); padding-left: .75rem; }
§ .facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .2rem 1.25rem; }
§ .facts dt { color: var(--soft); font-weight: 400; margin: 0; } § .facts dd { margin: 0; }
§ .scroll { overflow-x: auto; margin: 0 0 1rem; -webkit-overflow-scrolling: touch; background:
  linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--rule), transparent) right / 1rem 100% no-repeat scroll; }
§ .scroll:focus-visible { outline: 2px solid var(--seal); outline-offset: 2px; }
§ table { border-collapse: collapse; border-spacing: 0; width: auto; min-width: 60%; margin: 0; font-size: .875rem;
  color: inherit; background: none; border: 0; table-layout: auto; font-variant-numeric: tabular-nums; }
§ caption { caption-side: top; text-align: start; color: var(--soft); font-size: .875rem; padding: 0 0 .35rem; }
§ tr, § thead, § tbody { background: none; border: 0; }
§ th, § td { padding: .35rem 1rem .35rem 0; border: 0; border-bottom: 1px solid var(--rule); text-align: start;
  vertical-align: top; background: none; color: inherit; font-weight: 400; max-width: 22rem; white-space: nowrap; }
§ thead th { color: var(--soft); font-weight: 400; border-bottom-color: var(--soft); vertical-align: bottom;
  overflow-wrap: normal; }
§ th.right, § td.right { text-align: end; }
§ th.wraps, § td.wraps { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
§ th.names, § td.names { min-width: 6rem; }
§ th[scope=row] { font-weight: 600; }
§ tr.here > * { background: var(--card); }
§ .plot { display: block; max-width: 100%; overflow: visible; direction: ltr; font-family: inherit; }
§ .forest { max-width: 44rem; } § .det { max-width: 30rem; height: auto; }
§ .confusion { max-width: 40rem; height: auto; }
§ .plot text { font-size: 12.5px; fill: var(--ink); stroke: var(--paper); stroke-width: 4px; paint-order: stroke;
  stroke-linejoin: round; }
§ .plot .name { font-weight: 600; } § .plot .tick, § .plot .instead { fill: var(--soft); }
§ .plot .instead { font-style: italic; }
§ .plot .bar-name, § .plot .axis { fill: var(--ink); font-size: 12px; }
§ .plot line, § .plot polyline, § .plot path { fill: none; stroke: var(--ink); stroke-width: 1; }
§ .plot .grid { stroke: var(--rule); } § .plot .zero { stroke: var(--soft); }
§ .plot .bar { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
§ .plot .reach, § .plot .upto { stroke-width: 2; } § .plot .tall { stroke-width: 3; }
§ .plot .mark { stroke-width: 2; stroke: var(--ink); fill: var(--ink); }
§ .plot .ring { fill: var(--paper); }
§ .plot .pass { stroke: var(--pass); } § .plot .mark.pass { fill: var(--pass); }
§ .plot .fail { stroke: var(--fail); } § .plot .mark.fail { fill: var(--fail); }
§ .plot .arrow { fill: var(--paper); }
§ .plot .curve { stroke-width: 2; stroke-linejoin: round; } § .plot .lead { stroke: var(--soft); }
§ .plot .point { stroke-width: 2; fill: var(--paper); }
§ .plot rect { fill: var(--paper); stroke: var(--one); stroke-width: 1.5; }
§ .plot rect.cell { fill: none; stroke: var(--rule); stroke-width: 1; }
§ .plot .agreed, § .plot .human { fill: var(--one); }
§ .plot .judge { stroke: var(--two); }
§ .plot text.over { fill: var(--paper); stroke: none; }
"""
_SERIES = "".join(
    f"§ .plot .c{index} {{ stroke: var(--{name}); }} § .plot text.k{index} {{ fill: var(--{name}); }}\n"
    for index, name in enumerate(LINES)
) + "".join(f"§ .plot .d{index} {{ stroke-dasharray: {dash}; }}\n" for index, dash in enumerate(DASHES))
_PHONE = """
@media (max-width: 40rem) {
§ { padding: .75rem .75rem 1.5rem; }
§ .facts { grid-template-columns: 1fr; gap: 0; } § .facts dd { margin: 0 0 .5rem; }
§ th.wraps, § td.wraps { min-width: 7rem; max-width: 11rem; }
§ th.names, § td.names { min-width: 6.5rem; }
§ .scroll tbody th[scope=row] { position: sticky; left: 0; background: var(--paper); max-width: 9rem;
  white-space: normal; overflow-wrap: anywhere; min-width: 6.5rem; }
}
"""
_PRINT = """
@media print {
§ { padding: 0; font-size: 10pt; line-height: 1.4; }
§ .sheet { max-width: none; }
§ .t2, § .t3, § .t4, § caption, § thead { break-after: avoid; }
§ tr, § .verdict, § svg, § figure, § .short { break-inside: avoid; }
§ thead { display: table-header-group; }
§ .scroll { overflow: visible; background: none; }
§ table { font-size: 8.5pt; }
§ th, § td { padding-right: .5rem; } § thead th, § td.wraps, § th.wraps { white-space: normal; }
§ th.wraps, § td.wraps { min-width: 5rem; max-width: none; overflow-wrap: anywhere; }
§ p { orphans: 3; widows: 3; }
§ .forest, § .det, § .confusion { max-width: 130mm; }
}
@page { margin: 18mm 16mm; }
"""
_PAGE = """
html { background: var(--paper); color-scheme: light dark; } body { margin: 0; background: var(--paper); }
"""


def sheet(*, fragment: bool) -> str:
    """Return the style of a whole page, or of a `fragment` in somebody else's."""
    parts = [
        _palette("§" if fragment else ":root", LIGHT),
        f"@media (prefers-color-scheme: dark) {{ {_palette('§' if fragment else ':root', DARK)} }}",
    ]
    if fragment:
        # A notebook may be light on a dark desk, and says so in these ways.
        parts += [_palette('[data-jp-theme-light="true"] §, .vscode-light §', LIGHT)]
        parts += [_palette('[data-jp-theme-light="false"] §, .vscode-dark §', DARK)]
    else:
        parts.append(_PAGE)
    printed = _palette("§" if fragment else ":root", LIGHT)
    print_sheet = _PRINT.replace("@page { margin: 18mm 16mm; }\n", "") if fragment else _PRINT
    parts += [_SHEET, _SERIES, _PHONE, print_sheet, f"@media print {{ {printed} }}"]
    # Three times the class, to weigh more than what a notebook says of every second row of a table.
    return "\n".join(part.strip() for part in parts).replace("§", f".{SCOPE}" * (3 if fragment else 1))


def _palette(selector: str, colours: Mapping[str, str]) -> str:
    said = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    return f"{selector} {{ {said} }}"
