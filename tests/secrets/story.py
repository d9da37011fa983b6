"""One life of a study, in which every verb has its line; a verb to come joins by one more.

`STORY` begins in a folder with the files of `tests.secrets.conftest.write_files` and no ledger. Each line is made by
`lacre`, in that folder, with the passphrases of the environment; what follows `#` is its exit status, if not 0.
"""

STORY = """
init --name Ana
new fairness
check protocol.yaml dev.csv
register protocol.yaml
amplify secret . -o variants # 2
seal secret dev dev.csv
seal secret teste more.csv
seal secret teste teste.csv --replace --reason again
seal secret contraste contraste.json --reason one
inputs secret teste -o to-predict.csv
run secret rehearsal --submission dev-predictions.csv
run secret rehearsal --submission dev-predictions.csv --dry-run
reveal secret --submission teste-predictions.csv --request-out ask.lacre
reveal --request ask.lacre --dry-run
reveal --request ask.lacre
reveal secret --submission teste-predictions.csv # 2
reveal secret --submission teste-predictions.csv --accept-dev # 3
run secret rehearsal --pool contraste --submission more-predictions.csv # 3
deviate secret words
amend amended.yaml --reason again --yes --accept-burn
erratum secret@10 corrected.csv --reason swapped # 3
key new ana.pem
key new custodian.txt --identity
key enrol ana.pem --role registrant --name Bea
key list
key rotate log
key backup backup.age --open
key recover backup.age
rewrap secret contraste --recipient {custodian}
erase @0 --which name --yes
status
log
show
show secret
show secret --deviations --format csv
show secret@10
show @4
show @10
show @11
report secret@10 -o report.html
export secret@10 -o bundle.zip
export secret@10 -o only.zip --only-study
verify bundle.zip
verify only.zip
export --registry registry
audit
audit secret@10
audit --registry registry
recover
withdraw secret --reason over --yes
register faces.yaml
sample faces faces frame.csv -o drawn.csv
seal faces dev faces=dev-faces.csv pairs=dev-pairs.csv
seal faces teste teste-faces.csv
seal faces contraste contraste-pairs.csv
seal faces guarda guarda.csv
calibrate faces --submission faces=dev-scores.csv --submission pairs=dev-likeness.csv
calibrate faces detector --submission dev-scores.csv --dry-run
sample faces --relabel faces -o blank.csv
commit faces relabels again.csv
reveal faces --submission scores.csv
run faces differential --submission contraste-likeness.csv # 3
run faces differential --submission contraste-likeness-tuned.csv --rung tuned # 3
gate faces --submission good.csv
calibrate faces detector --submission dev-scores.csv # 2
rebalance faces -o grown.csv # 2
scan guarda.csv # 1
scan contraste-pairs.csv --json # 1
status
show faces
audit
demo
"""


def lines(story: str = STORY) -> list[tuple[list[str], int]]:
    """The calls of a story, each with the status that it ends with."""
    found = []
    for line in story.strip().splitlines():
        words, _mark, status = line.partition(" # ")
        found.append((words.split(), int(status or 0)))
    return found
