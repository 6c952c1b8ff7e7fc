"""What SLAM costs beside true poses: the table of docs/results/slam.md from runs of the design ``slam_worlds``.

    covey run slam_worlds --out FOLDER
    python benchmarks/slam_worlds.py FOLDER

Runs are paired: the same world, start and seed, with true poses and with SLAM. The bars: the quality of the map at most
0.02 less, the time to explore 99 % at most 1.15 times as long, nobody lost.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl

KEY = "robots.scout.localization"
QUALITY, TIME = 0.02, 1.15


def main(folder: Path) -> None:
    """Print a line for each place."""
    runs = pl.read_parquet(folder / "results.parquet")
    pairs = runs.filter(pl.col(KEY) == "truth").join(
        runs.filter(pl.col(KEY) == "slam"), on=["place", "iteration"], suffix="_slam"
    )
    print(
        "| place | pairs | quality of the map: true poses, SLAM | difference: median, worst | at most 0.02 | "
        "time: median, longest | at most 1.15 | largest error of a pose: median, worst |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (place,), some in pairs.group_by("place", maintain_order=True):
        less = (some["map_quality"] - some["map_quality_slam"]).to_numpy()
        longer = (some["exploration_time_s_slam"] / some["exploration_time_s"]).drop_nulls().to_numpy()
        off = some["position_error_max_m_slam"].to_numpy()
        print(
            f"| {place} | {len(some)} | {some['map_quality'].median():.3f}, {some['map_quality_slam'].median():.3f} | "
            f"{np.median(less):.3f}, {less.max():.3f} | {(less <= QUALITY).sum()} | {np.median(longer):.2f}, "
            f"{longer.max():.2f} | {(longer <= TIME).sum()} | {np.median(off):.2f}, {off.max():.2f} m |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
