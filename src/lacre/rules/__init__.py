"""The law: what may be done, in what order, and what it makes of a pool. Pure; every rule stands here alone.

A person signs a request; the broker gathers facts from outside the ledger; `decide` answers with a decision
or refuses, facts that cannot be as well; request, facts and decision become one entry. `fold` reads a study's
entries back into the state that `decide` judges from, so an auditor who replays the entries must come to the
same decisions.

The rules in force (numbers are stable; a number not listed has no verb in this version):

 1. A study begins with its registration. Nothing else of a study stands before it, and a study is registered
    once. A criterion that can only come out one way is refused, unless its keeping is explained on record.
 2. A pool is sealed only if the protocol in force declares it, once, and with exactly its declared tables. It
    may be replaced, on the record and with a reason, until its content is first read. What an amendment
    declares otherwise than it was sealed has to be sealed again. A pool may be handed to other recipients
    whole, without a read. A read is of the seal that its signer means, and of no other in its place. An open
    pool is not sealed but committed, with its declared tables, and read as it was committed.
 3. Outside `dev`, a table with a label time earlier than the registration is refused, with the count; and so is
    one with a label time in the future, by more than clocks and zones are apart. Of an open pool, which all can
    see, that is told.
 4. An open pool is committed in the order of its parts, each once: a part is refused until the one before it
    stands, and so are columns of another part in it, rows of no committed case, and cases that are not shown
    by their times to be labelled before they were scored. It is read once all its parts stand. Second labels
    are of cases that were handed out for it, with the inputs they were handed out with, blind and days after
    the first; they are committed once, before their pool is read.
 5. Each read of each pool is an entry before a byte is decrypted: who, when, for what, under which protocol,
    with which submissions, in which class, which number. What can be checked without reading is checked
    before; a refusal there costs nothing.
 6. The first read of `teste` is of class `teste`. Each later one is of class `dev`, makes the pool `dev`,
    and must say `accept_dev`, or it is refused and nothing is spent. A result is confirmatory by the class
    in its own read's entry.
 7. After the first read of `teste`, an amendment that touches anything its analyses use makes it `dev`, and
    must say `accept_burn`. Earlier results stand.
 8. Thresholds are set on `dev` alone, by their registered rules, and frozen in an entry; an analysis that uses
    one waits for it. After a read of `teste` whose analyses use it, a new calibration makes `teste` `dev` (7),
    and must say `accept_burn`.
 9. An analysis names one pool. `contraste` answers only analyses that compare groups, and a difference needs
    two declared groups. Of each system the first submission to `contraste` is confirmatory (for every analysis
    that reads it), later ones are exploratory, and so is what was amended, or calibrated anew, after the first
    read. A mitigation by training opens once the earlier ones ran and a criterion still does not pass. An open
    pool answers its own analyses alone.
10. `guarda` answers verdicts only, through a verb of its own; nothing else reads it. It is read at most
    `max_reads` times, each at that share of the error rate; amending what its analyses use, or its budget,
    after a read retires it. Reads that other studies had of the same cases have spent their shares of it.
11. Requests name the protocol in force by its hash; any other is refused.
12. A case is exposed once its content was read, from any pool of any study, or committed in the open, which
    is refused of cases of a sealed pool that is to stay apart or unseen. A `teste`, `contraste` or
    `guarda` that shares cases, units or `disjoint` values with another pool of its study, or holds exposed
    cases, is refused with the counts, when it is sealed and again when a read of class `teste` is granted;
    `as_dev` seals it as `dev`. A read that would expose another study's sealed pool says so and must be
    confirmed. Within a study ids decide, where two pools call their cases alike: by a table's name and key,
    or a namespace; and under other ids, digests do, and contents beyond chance.
13. What a protocol locks is not amended, nor the list of what it locks.
14. An amendment records its reason, the field-by-field difference and what had been read; a deviation is words
    about a study or an entry of it, and changes nothing. A pool shorter than planned is a deviation by itself,
    recorded in the seal's decision. Cases are drawn as registered, before their pool is sealed, and from one
    frame; what is sealed then are the cases drawn, and those of them that are not are counted.
15. A result on a pool that is not what its analysis registered is exploratory, and so is one on an open pool
    of what was amended after its labels stood: PASS reads INSUFFICIENT_EVIDENCE, FAIL stays. Prior exposure,
    declared or remembered, makes results retrospective: not confirmatory, the verdict as computed.
16. A read that was spent and has no result may be finished with the same request and inputs, as often as it
    takes, until there is a result. Each attempt is an entry and the same read; another engine makes it a
    manual review. With `accept_dev` a read never finishes another.
17. Nothing is deleted: withdrawn studies, replaced pools, failed reads and every result stay listed. A label
    erratum scores the same submissions again on corrected tables, and both numbers stay; the second is
    exploratory. A name or a reason may be erased by an
    entry that an owner asked for; its digest stays.
18. A ledger that is no extension of what is remembered of it is refused for writing (`lacre.store.memory`
    compares; the refusals stand with the law's other errors).
19. A clock that runs backwards is a warning, never a refusal.

Keys are enrolled, revoked and replaced by entries that an owner asked for, and judged at the index of the
entry they sign (`lacre.rules.keys`).
"""
