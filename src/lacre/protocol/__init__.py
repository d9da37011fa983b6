"""What is promised: a protocol's grammar, its checks, its one canonical form and its hash.

`document` reads and writes; `models` is what a protocol is made of; `kinds` holds the plan of each analysis.
Nothing here touches a clock, a file of the user's or a random number.
"""
