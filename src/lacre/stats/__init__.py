"""Numbers: pure functions on arrays. Seeds are arguments; no table, protocol or verdict is known here.

`VERSION` names what these functions compute. Results record it, and a protocol registered under another one
is reviewed by a person before its verdict counts; so a change of any number here changes it.
"""

VERSION = "1"
