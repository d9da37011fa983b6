"""Results computed again, one module for each family of kinds; `lacre.analyses.recompute` is the door."""
