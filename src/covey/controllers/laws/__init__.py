"""Control laws of teams: plain functions of arrays, and group controllers that apply them."""
