"""Where processes run: on the workers of a cluster, or wherever somebody starts them."""

import os
import subprocess
import sys

import psutil
import pytest

import covey
from covey.errors import InvalidValueError
from covey.runtime.remote.placement import placed
from covey.scenario.load import parse_scenario

SCENARIO = """
world: {empty_m: [8, 8], resolution_m: 0.2}
robots: [{name: scout, count: 2, robot: {base: disc, mapping: {resolution_m: 0.2}}, controller: random_ballistic_walk}]
stop: {timeout_s: 1}
execution: {controllers: processes, processes: PROCESSES}
"""


def test_nodes_are_filled_one_after_another():
    """001: robots_per_node = 4 and 30 robots take 8 nodes."""
    nodes = placed([f"r{i}" for i in range(30)], 4)
    assert len(nodes) == 8
    assert [len(robots) for robots in nodes] == [4] * 7 + [2]
    assert [name for robots in nodes for name in robots] == [f"r{i}" for i in range(30)]


def build(processes, folder):
    return parse_scenario(SCENARIO.replace("PROCESSES", processes)).build(folder)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The same run with controllers in the simulator's process."""
    folder = tmp_path_factory.mktemp("runs") / "here"
    text = SCENARIO.replace(", processes: PROCESSES", "").replace("processes", "in_process")
    parse_scenario(text).build(folder).run()
    return (folder / "measurements.parquet").read_bytes()


@pytest.mark.slow
def test_processes_on_the_workers_of_a_dask_cluster(tmp_path, reference):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as cluster:
        sim = build(f"{{nodes: '{cluster.scheduler_address}', robots_per_node: 1}}", tmp_path / "run")
        sim.step()
        pids = [channel.pid for channel in sim.deciding.host.fleet.channels.values()]
        parents = {psutil.Process(pid).ppid() for pid in pids}
        assert parents == {worker.process.process.pid for worker in cluster.workers.values()}
        run = sim.run()
        nodes = covey.Processes(nodes=cluster.scheduler_address, robots_per_node=1)
        execution = covey.Execution(controllers="processes", processes=nodes)
        with pytest.raises(InvalidValueError, match=r"need 3 workers; .* has 2"):
            covey.Simulation(covey.World.empty(6, 6), 3, still, execution=execution)
    assert (run.folder / "measurements.parquet").read_bytes() == reference
    assert set(run.manifest["processes"]["hosts"]) == {"scout0", "scout1"}


async def still(robot):
    await robot.sleep(1.0)


@pytest.mark.slow
def test_processes_that_are_started_by_hand_come_in(tmp_path, reference, monkeypatch):
    monkeypatch.delenv("COVEY_AUTHKEY", raising=False)
    with pytest.raises(covey.CoveyError, match="COVEY_AUTHKEY holds no key"):
        build("{nodes: join}", tmp_path / "run")
    monkeypatch.setenv("COVEY_AUTHKEY", "c0ffee")
    sim = build("{nodes: join}", tmp_path / "run")
    host, port = sim.deciding.host.fleet.address
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "covey", "robot", f"{host}:{port}"]
    robots = [subprocess.Popen([*command, "--name", f"scout{i}"], env=environment) for i in range(2)]
    run = sim.run()
    assert [robot.wait(240) for robot in robots] == [0, 0]
    assert (run.folder / "measurements.parquet").read_bytes() == reference


def test_settings_of_processes_without_processes_are_refused():
    from covey.errors import ScenarioError

    with pytest.raises(ScenarioError, match="belongs to controllers: processes"):
        parse_scenario(SCENARIO.replace("controllers: processes, processes: PROCESSES", "processes: {pace: real_time}"))
