"""What the rows of a design say: tables, tests, comparisons."""
