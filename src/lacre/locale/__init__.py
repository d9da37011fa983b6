"""What people read, in other languages: a folder of catalogues for each, and the reader of them.

A catalogue is in parts, one `.po` file for the rooms it translates, so that several people can work at once;
they are read as they are, without a step that compiles them.
"""
