"""Analysis of the rows of a design: tables, tests, comparisons."""
