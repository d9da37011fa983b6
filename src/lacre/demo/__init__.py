"""The demo: a whole study, from the published counts to its audit."""
