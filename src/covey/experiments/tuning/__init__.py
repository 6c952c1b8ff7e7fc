"""Tuning: the parameters of a strategy that make a metric best, by Optuna over the runs of a study."""
