"""What two pools of unrelated cases have in common by chance, and whether they have more than that.

Between studies an equal id says nothing (unrelated people are all numbered from 1), and equal content says
little when it is a sex, a race and an age. How telling the columns are cannot be looked up in the pools,
which are sealed; but the fingerprints keep how often each content occurs, and that is enough.

**Content alone.** Take the contents that occur exactly twice in the two pools together, of sizes a and b,
N = a + b. Were both pools drawn from one population, which rows fell into which pool would be chance, and
each such pair would lie across the pools with probability

    p = 2ab / (N (N - 1)),

within one of them otherwise: the other sizes of the same draw without replacement. Of K pairs across and D
within, K is then close to Binomial(K + D, p), conditionally on everything else; with populations that differ,
K is smaller. K counts as evidence when P(Binomial(K + D, p) >= K) is below `ALPHA`. A pair across is exactly
a content that is unique within both pools. Without any repetition within pools of equal size it takes 15 such
contents; below that, chance cannot be told from copies by content alone.

**Passages.** A free text of `PASSAGE` characters or more is its own evidence: at Shannon's lower estimate of
0.6 bits a character of printed English ("Prediction and entropy of printed English", Bell System Technical
Journal 30, 1951), two such agree by chance less than once in 2^76. Only boilerplate speaks against it, and
boilerplate repeats within a pool: with E = D p / (1 - p) expected from the D passages that occur twice within
a pool, K count when K > E + 4 sqrt(E (1 + E / D)), the deviation of K and of the estimate of E together.

**Id and content together.** Of m ids that are in both pools, R have the same content too. With ids given
regardless of content, R is close to Binomial(m, c), c = sum over contents of (a_h / a) (b_h / b), the share
of all pairs across the pools that agree. But files are often sorted, by group say, and numbered after; then
rows with the same number are alike more often than others. What the file's order does, it does to neighbours
too: S counts the ids under which one pool's content equals that of the *next* row in the other's file, both
ways round, and S / 2 estimates what R would be by order alone. R counts when P(Binomial(m, c) >= R) is below
`ALPHA` and R > S/2 + 4 sqrt(S/2 + S/4), four deviations of R and of the estimate together.
"""

from math import sqrt

from scipy.special import bdtrc

ALPHA = 3.2e-5
"""The upper tail of a normal distribution beyond four standard deviations."""

DEVIATIONS = 4.0

PASSAGE = 128
"""Characters of a free text from which it is its own evidence."""


def crossing_probability(a: int, b: int) -> float:
    """Return the probability that two of a + b rows, drawn without replacement, fall on both sides."""
    total = a + b
    return 2.0 * a * b / (total * (total - 1)) if total > 1 else 0.0


def binomial_tail(successes: int, trials: int, probability: float) -> float:
    """Return P(Binomial(trials, probability) >= successes)."""
    return float(bdtrc(successes - 1, trials, probability)) if successes > 0 else 1.0


def contents_beyond_chance(across: int, within: int, a: int, b: int) -> bool:
    """Whether `across` contents, unique in pools of a and b rows, are more than `within` explains."""
    return binomial_tail(across, across + within, crossing_probability(a, b)) < ALPHA


def passages_beyond_chance(across: int, within: int, a: int, b: int) -> bool:
    """Whether `across` passages, unique in pools of a and b rows, are more than boilerplate explains."""
    if not within:
        return across > 0
    p = crossing_probability(a, b)
    if p >= 1.0:
        return False
    expected = within * p / (1.0 - p)
    return across > expected + DEVIATIONS * sqrt(expected * (1.0 + expected / within))


def rows_beyond_chance(alike: int, shared_ids: int, collision: float, displaced: int) -> bool:
    """Whether `alike` of `shared_ids` rows agree in content more than chance and the files' order explain.

    `collision` is the share of all pairs across the pools that agree; `displaced` is S of the module's text.
    """
    by_order = displaced / 2.0
    beyond_order = alike > by_order + DEVIATIONS * sqrt(1.5 * by_order)
    return beyond_order and binomial_tail(alike, shared_ids, collision) < ALPHA
