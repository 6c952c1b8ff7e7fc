"""Samples of the radio, against networkx and NumPy."""

import networkx as nx
import numpy as np
import pytest

from covey.comms.samples import sample_links


@pytest.mark.parametrize("robots", [1, 2, 9])
def test_a_sample_counts_links_groups_changes_and_ages(robots):
    draw = np.random.default_rng(robots)
    for _ in range(5):
        alive = draw.random(robots) < 0.8
        hears, before = (np.triu(draw.random((robots, robots)) < 0.2, 1) for _ in range(2))
        hears, before = (links | links.T for links in (hears & alive[:, None] & alive, before))
        news_s = draw.uniform(0.0, 9.0, (robots, robots))
        sample = sample_links(hears, before, alive, news_s, 10.0)
        graph = nx.from_numpy_array(hears).subgraph(np.flatnonzero(alive))
        groups = [len(group) for group in nx.connected_components(graph)]
        assert (sample.links, sample.groups) == (graph.number_of_edges(), len(groups))
        assert sample.largest_group == max(groups, default=0)
        changed = [[i, j, hears[i, j]] for i, j in np.argwhere(np.triu(hears != before))]
        assert sample.changes.tolist() == changed
        ages = [10.0 - news_s[i, j] for i in range(robots) for j in range(robots) if i != j]
        assert sample.news_mean_s == pytest.approx(np.mean(ages) if ages else np.nan, nan_ok=True)
        assert sample.news_max_s == pytest.approx(max(ages, default=np.nan), nan_ok=True)
