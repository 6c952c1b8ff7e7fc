"""Runs on the workers of a real Dask scheduler, and what `--cluster` says of files and of what is missing."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

import psutil
import pytest
from tests.experiments.conftest import PLAIN, executed_here

from covey.cli import main
from covey.errors import CoveyError, InvalidValueError, MachineError, ScenarioError
from covey.experiments.analysis.table import deterministic
from covey.experiments.run import run_design
from covey.experiments.workers import cluster, cluster_workers, jobs
from covey.experiments.workers.cluster import job_script, open_cluster
from covey.experiments.workers.cluster_file import read_cluster_file
from covey.experiments.workers.supervisor import compile_if_cold

distributed = pytest.importorskip("distributed")
jobqueue = pytest.importorskip("dask_jobqueue")

SLURM = """\
slurm: {cores: 4, memory: 8GB, walltime: "02:00:00", queue: short, interface: lo}
jobs: 3
"""


@pytest.fixture
def dask(tmp_path):
    """Yield the address of a scheduler, and two workers of one thread each as processes that nobody restarts."""
    file = str(tmp_path / "scheduler.json")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    python = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = [*python, "--scheduler-file", file, "--port", "0", "--no-dashboard", "--host", "127.0.0.1"]
    python = [sys.executable, "-m", "distributed.cli.dask_worker"]
    worker = [*python, "--scheduler-file", file, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    processes = [subprocess.Popen(command, **quiet) for command in (scheduler, worker, worker)]
    try:
        with distributed.Client(scheduler_file=file, timeout=300) as client:
            client.wait_for_workers(2, timeout=300)
            yield client.scheduler.address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


SLOW = """
import time
from pathlib import Path

WAIT, BEGUN = Path(__file__).with_name("wait"), time.monotonic()

def slow(robot):
    robot.drive(0.2, 0.1)
    if robot.name == "scout1" and WAIT.exists():  # steps become rarer, so that no run of two robots ends
        time.sleep(0.02 + 0.1 * (time.monotonic() - BEGUN))
"""


@pytest.fixture(scope="module")
def undisturbed(plain, tmp_path_factory):
    """Return a design whose runs of two robots do not end while a file is there, its results, and this file."""
    compile_if_cold()
    file = tmp_path_factory.mktemp("code") / "slow.py"
    file.write_text(SLOW)
    scenario = PLAIN["scenario"] | {"execution": {"step_budget_s": 600}, "stop": {"timeout_s": 10}}
    scenario["robots"] = [{"name": "scout", "robot": "disc", "controller": f"{file}:slow"}]
    design = plain(iterations=2, scenario=scenario)
    with pytest.MonkeyPatch.context() as patch:
        executed_here(patch)
        local = run_design(design, tmp_path_factory.mktemp("undisturbed") / "local", jobs=1)
    return design, local, file.with_name("wait")


@pytest.mark.slow
def test_every_run_is_recorded_once_though_a_worker_is_killed(dask, undisturbed, tmp_path):
    address, workers = dask
    design, local, wait = undisturbed
    killed = []

    def kill_one():
        """Kill a worker in the middle of a run."""
        for one in workers:
            while not _is_at_work(one.pid, tmp_path / "far" / "runs"):
                time.sleep(0.02)
        orphans = psutil.Process(workers[0].pid).children()
        workers[0].kill()
        killed.append(psutil.wait_procs(orphans, timeout=300)[1])
        wait.unlink()

    wait.touch()
    killer = threading.Thread(target=kill_one, daemon=True)
    with open_cluster(address) as executor:
        killer.start()
        far = run_design(design, tmp_path / "far", executor=executor)
    assert killed == [[]], "it has left no process"
    assert Counter(row["run_id"] for row in far.rows) == Counter(row["run_id"] for row in local.rows)
    assert deterministic(far.table).write_csv() == deterministic(local.table).write_csv()
    folders = {path.name for path in (tmp_path / "far" / "runs").iterdir() if path.name[0] != "."}
    assert folders == set(far.table["run_id"])
    assert (far.table["status"] == "timeout").all()


@pytest.mark.slow
def test_when_the_scheduler_is_killed_the_study_ends_in_words_and_the_same_command_goes_on(
    dask, undisturbed, tmp_path, capfd
):
    address, _ = dask
    (design, alone, wait), folder = undisturbed, tmp_path / "far"
    (scheduler,) = (p for p in psutil.Process().children() if "distributed.cli.dask_scheduler" in p.cmdline())
    wait.touch()
    with (
        pytest.raises(MachineError, match=r"the scheduler has stopped; .* the same command does the rest"),
        open_cluster(address) as executor,
    ):
        run_design(design, folder, executor=executor, observer=lambda progress: progress.row and scheduler.kill())
    assert "Traceback" not in capfd.readouterr().err
    wait.unlink()
    rest = run_design(design, folder, jobs=1)
    assert deterministic(rest.table).write_csv() == deterministic(alone.table).write_csv()


def _is_at_work(worker, runs):
    children = [child.pid for child in psutil.Process(worker).children()]
    return any(name.name.endswith(f".{pid}") for pid in children for name in runs.glob(".*"))


def test_nobody_answers_at_the_address(monkeypatch):
    monkeypatch.setattr(cluster, "_ANSWER_S", 0.3)
    with pytest.raises(CoveyError, match="no Dask scheduler answers there"), open_cluster("tcp://127.0.0.1:9"):
        pass


def test_the_job_script_is_that_of_the_queueing_system(tmp_path, capsys):
    (tmp_path / "slurm.yaml").write_text(SLURM)
    with socket.socket() as other:
        with suppress(OSError):  # where another test has the usual port of a dashboard, all the better
            other.bind(("", 8787))
            other.listen()
        script = job_script(str(tmp_path / "slurm.yaml"))
    assert "#SBATCH -p short" in script
    assert "#SBATCH -t 02:00:00" in script
    assert "dask_worker" in script or "dask worker" in script
    assert "--no-dashboard --dashboard-address 127.0.0.1:0" in script
    (tmp_path / "design.yaml").write_text("design: d\nscenario: hello\n")
    assert main(["run", str(tmp_path / "design.yaml"), "--cluster", str(tmp_path / "slurm.yaml"), "--dry-run"]) == 0
    assert "#SBATCH -p short" in capsys.readouterr().out


def a_command(folder, monkeypatch, script, name="sbatch"):
    """Put a command of a queueing system into a folder, the only one of the search path besides the system's own."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def study_on_slurm(folder):
    """Return the arguments that run a small design on Slurm."""
    (folder / "slurm.yaml").write_text(SLURM)
    (folder / "design.yaml").write_text("design: d\nscenario: hello\n")
    where = ["--out", str(folder / "out"), "--quiet"]
    return ["run", str(folder / "design.yaml"), "--cluster", str(folder / "slurm.yaml"), *where]


def test_a_study_ends_with_a_sentence_where_there_is_no_queueing_system(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(study_on_slurm(tmp_path)) != 0
    said = capsys.readouterr().err
    assert "there is no sbatch on this machine" in said
    assert "Traceback" not in said


def test_a_study_ends_with_what_a_refusing_queueing_system_said(tmp_path, monkeypatch, capsys):
    refusal = "sbatch: error: invalid partition specified: short"
    a_command(tmp_path / "bin", monkeypatch, f"echo '{refusal}' >&2; exit 1")
    assert main(study_on_slurm(tmp_path)) != 0
    said = capsys.readouterr().err
    assert refusal in said
    assert "Traceback" not in said


def test_a_queueing_system_that_does_not_answer_is_given_up(tmp_path, monkeypatch):
    a_command(tmp_path / "bin", monkeypatch, "exec sleep 20")
    monkeypatch.setattr(cluster, "_SUBMIT_S", 0.5)
    (tmp_path / "slurm.yaml").write_text(SLURM)
    with (
        pytest.raises(CoveyError, match="sbatch has not answered"),
        open_cluster(str(tmp_path / "slurm.yaml")) as workers,
    ):
        workers.attend(100, 0)
    assert not [child for child in psutil.Process().children() if "sleep" in " ".join(child.cmdline())]
    gc.collect()


def a_queue(folder, monkeypatch, says):
    """Put a stand-in for Slurm into a folder: squeue says the same of all jobs; ``jobs`` and ``cancelled`` list them."""
    a_command(folder, monkeypatch, f"echo Submitted batch job $$; echo $$ >> {folder}/jobs")
    a_command(folder, monkeypatch, f'while read n; do echo "$n|{says}"; done < {folder}/jobs', "squeue")
    a_command(folder, monkeypatch, f"echo $1 >> {folder}/cancelled", "scancel")


def test_why_jobs_wait_in_the_queue_is_told(tmp_path, monkeypatch):
    a_queue(tmp_path / "bin", monkeypatch, "PENDING|PartitionTimeLimit")
    monkeypatch.setattr(cluster_workers, "FIRST_S", 0.0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.yaml").write_text(SLURM)
    with open_cluster(str(tmp_path / "slurm.yaml")) as workers:
        asked, why = workers.attend(12, 0)
    assert asked.startswith("asked for 3 jobs: ")
    assert "no worker has been connected for 0 s" in why
    assert "PENDING (PartitionTimeLimit): it asks for more time than the partition allows" in why
    jobs, cancelled = ((tmp_path / "bin" / name).read_text().split() for name in ("jobs", "cancelled"))
    assert len(jobs) == 3
    assert sorted(jobs) == sorted(cancelled)


def test_a_study_that_needs_fewer_jobs_than_it_may_have_asks_for_fewer(tmp_path, monkeypatch):
    a_queue(tmp_path / "bin", monkeypatch, "PENDING|Priority")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.yaml").write_text(SLURM)
    with open_cluster(str(tmp_path / "slurm.yaml")) as workers:
        assert workers.attend(5, 0)[0].startswith("asked for 2 jobs: ")
    assert len((tmp_path / "bin" / "jobs").read_text().split()) == 2, "of four runs each"


def test_when_all_jobs_end_without_a_run_the_study_ends_in_words(tmp_path, monkeypatch, capsys):
    a_queue(tmp_path / "bin", monkeypatch, "CANCELLED|None")
    monkeypatch.setattr(jobs, "ASK_S", 0.0)
    monkeypatch.setattr(cluster_workers, "_LOOK_S", 0.0)
    monkeypatch.chdir(tmp_path)
    assert main(study_on_slurm(tmp_path)) == 1
    said = capsys.readouterr().err
    assert "9 jobs have ended one after the other without that a run has ended; the last: job " in said
    assert "has ended: CANCELLED" in said
    assert "the same command does the rest" in said
    assert len((tmp_path / "bin" / "jobs").read_text().split()) >= 9, "each of three jobs, three times"


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_whoever_ends_a_study_leaves_no_jobs_and_no_keys(number, code, tmp_path, monkeypatch):
    a_queue(tmp_path / "bin", monkeypatch, "PENDING|Priority")
    command = [sys.executable, "-m", "covey", *study_on_slurm(tmp_path)]
    path = os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as study:
        for line in study.stderr:
            if line.startswith("asked for"):
                break
        assert len(list(tmp_path.glob(".covey-keys-*"))) == 1
        study.send_signal(number)
        said = study.stderr.read()
        assert study.wait(300) == code
    submitted = (tmp_path / "bin" / "jobs").read_text().split()
    assert sorted((tmp_path / "bin" / "cancelled").read_text().split()) == sorted(submitted)
    assert not list(tmp_path.glob(".covey-keys-*"))
    assert "cancelling" in said
    assert "repeat the command to do the rest" in said
    assert "Traceback" not in said


def test_the_keys_of_a_killed_study_are_removed_by_the_next(tmp_path, monkeypatch):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    left = tmp_path / f".covey-keys-abc.{socket.gethostname()}.{dead.stdout.strip()}"
    left.mkdir()
    monkeypatch.chdir(tmp_path)
    a_queue(tmp_path / "bin", monkeypatch, "PENDING|Priority")
    (tmp_path / "slurm.yaml").write_text(SLURM)
    with open_cluster(str(tmp_path / "slurm.yaml")):
        assert not left.exists()


@pytest.mark.slow
def test_ctrl_c_is_not_taken_over_by_a_library():
    code = (
        "import signal; from covey.experiments.workers import cluster; cluster._package('dask_jobqueue'); "
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def test_a_walltime_that_nobody_gave_is_told(tmp_path, monkeypatch, capsys):
    a_queue(tmp_path / "bin", monkeypatch, "PENDING|Priority")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.yaml").write_text("slurm: {cores: 1, memory: 1GB, interface: lo}\n")
    with open_cluster(str(tmp_path / "slurm.yaml")):
        assert "no walltime is given, so each job asks for 00:30:00" in capsys.readouterr().err
    (tmp_path / "slurm.yaml").write_text(SLURM)
    with open_cluster(str(tmp_path / "slurm.yaml")):
        assert "walltime" not in capsys.readouterr().err


def test_a_mistyped_option_is_told(tmp_path):
    file = tmp_path / "slurm.yaml"
    file.write_text("slurm: {cores: 1, memory: 1GB, interface: lo, quue: short}\n")
    with pytest.raises(InvalidValueError, match="slurm has no option 'quue', did you mean 'queue'"):
        job_script(str(file))


def test_a_network_that_this_machine_does_not_have_is_refused(tmp_path):
    file = tmp_path / "slurm.yaml"
    file.write_text("slurm: {cores: 1, memory: 1GB, interface: lo9}\n")
    with pytest.raises(InvalidValueError, match="has no network 'lo9', did you mean 'lo'"):
        job_script(str(file))
    file.write_text("slurm: {cores: 1, memory: 1GB, interface: ib0, scheduler_options: {interface: lo}}\n")
    assert "--interface ib0" in job_script(str(file))


def test_a_dry_run_names_the_folder_of_the_logs_and_does_not_make_it(tmp_path):
    (tmp_path / "slurm.yaml").write_text(SLURM)
    assert f"#SBATCH -e {tmp_path}/logs/" in job_script(str(tmp_path / "slurm.yaml"), tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


def test_a_scheduler_without_a_worker_is_told(monkeypatch):
    monkeypatch.setattr(cluster_workers, "FIRST_S", 0.0)
    quiet = {"processes": False, "dashboard_address": None, "protocol": "tcp://", "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(n_workers=0, **quiet) as scheduler,
        open_cluster(scheduler.scheduler_address) as workers,
    ):
        (said,) = workers.attend(3, 0)
    assert "no worker has been connected" in said
    assert f"start one: dask worker {scheduler.scheduler_address}" in said


def test_a_job_of_sge_asks_for_its_slots_and_its_memory(tmp_path):
    file = tmp_path / "sge.yaml"
    file.write_text("sge: {cores: 8, memory: 16GiB, interface: lo, parallel_environment: smp}\n")
    script = job_script(str(file))
    assert "#$ -pe smp 8" in script
    assert "#$ -l h_vmem=2048M" in script  # SGE counts memory by slot
    directives = "resource_spec: mem_free=16G, job_extra_directives: ['-pe mpi 8']"
    file.write_text(f"sge: {{cores: 8, memory: 16GiB, interface: lo, {directives}}}\n")
    script = job_script(str(file))
    assert (script.count("-pe"), script.count("h_vmem")) == (1, 0), "what the file says itself holds"
    file.write_text("sge: {cores: 8, memory: 16GiB, interface: lo}\n")
    with pytest.raises(InvalidValueError, match="add parallel_environment"):
        job_script(str(file))


@pytest.mark.parametrize("system", ["pbs", "sge", "lsf", "htcondor"])
def test_the_other_queueing_systems(system, tmp_path):
    extra = {"htcondor": ", disk: 1GB", "sge": ", parallel_environment: smp"}.get(system, "")
    (tmp_path / "c.yaml").write_text(f"{system}: {{cores: 2, memory: 4GB, interface: lo{extra}}}\n")
    assert "dask" in job_script(str(tmp_path / "c.yaml"))


def test_hosts_over_ssh(tmp_path):
    (tmp_path / "ssh.yaml").write_text("ssh: {hosts: [localhost, node1, node2]}\n")
    assert job_script(str(tmp_path / "ssh.yaml")) == "scheduler on localhost, workers on node1, node2, over SSH"


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("slurn: {cores: 1}\n", ScenarioError, "c.yaml:1:1: .*did you mean 'slurm'"),
        ("slurm: {cores: 1}\npbs: {cores: 1}\n", ScenarioError, "name one of .*; given: pbs and slurm"),
        ("jobs: 3\n", ScenarioError, "given: none"),
        ("slurm: {memory: 1GB, interface: lo}\n", InvalidValueError, "slurm: .*cores"),
        ("slurm: {cores: 1, memory: 1GB, interface: lo, colour: red}\n", InvalidValueError, "slurm: .*colour"),
    ],
)
def test_a_cluster_file_that_is_wrong(text, error, match, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(error, match=match):
        job_script("c.yaml")


def test_neither_an_address_nor_a_file():
    with pytest.raises(InvalidValueError, match="write the address of a Dask scheduler"):
        read_cluster_file("nowhere.yaml")


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CoveyError, match=r"pip install 'covey\[cluster\]'"), open_cluster("tcp://127.0.0.1:9"):
        pass


def listening():
    """Return address and port of all that this process listens on."""
    found = psutil.Process().net_connections(kind="tcp")
    return {(one.laddr.ip, one.laddr.port) for one in found if one.status == psutil.CONN_LISTEN}


def test_a_dry_run_listens_nowhere(tmp_path, monkeypatch):
    (tmp_path / "slurm.yaml").write_text(SLURM)
    bound = []
    monkeypatch.setattr(socket.socket, "bind", lambda _self, address: bound.append(address))
    assert "#SBATCH -p short" in job_script(str(tmp_path / "slurm.yaml"))
    assert not bound


def test_the_scheduler_of_a_study_listens_where_it_was_told_and_talks_to_nobody_without_its_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a_command(tmp_path / "bin", monkeypatch, "true", name="scancel")
    a_command(tmp_path / "bin", monkeypatch, "echo Submitted batch job 1")
    (tmp_path / "slurm.yaml").write_text(SLURM)
    before = listening()
    with open_cluster(str(tmp_path / "slurm.yaml")) as executor:
        executor.attend(12, 0)
        address = executor._client.scheduler.address
        opened = listening() - before
        assert opened
        assert {ip for ip, _ in opened} == {"127.0.0.1"}
        assert address.startswith("tls://127.0.0.1:")
        refuses_strangers(address)
    assert listening() - before == set()


def refuses_strangers(address):
    """Check that a scheduler talks neither to who has another key nor to who has none."""
    for stranger in (address, address.replace("tls", "tcp")):
        security = distributed.security.Security.temporary() if stranger == address else None
        with pytest.raises((OSError, ValueError, TypeError, RuntimeError)):
            distributed.Client(stranger, security=security, timeout=2, set_as_default=False)


@pytest.fixture
def ssh_host():
    """Yield the port of an SSH server on this machine, its password, and a list of the commands that it was given."""
    asyncssh = pytest.importorskip("asyncssh")
    password, commands = "of this test", []

    class Server(asyncssh.SSHServer):
        def begin_auth(self, _username):
            return True

        def password_auth_supported(self):
            return True

        def validate_password(self, _username, given):
            return given == password

    async def execute(process):
        commands.append(process.command)
        streams = {"stdout": asyncio.subprocess.DEVNULL, "stderr": asyncio.subprocess.PIPE}
        child = await asyncio.create_subprocess_shell(process.command, start_new_session=True, **streams)
        ended = asyncio.create_task(forward(child, process))
        await asyncio.wait(
            {ended, asyncio.create_task(process.channel.wait_closed())}, return_when=asyncio.FIRST_COMPLETED
        )
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await ended

    async def forward(child, process):
        async for line in child.stderr:
            with suppress(BrokenPipeError):
                process.stderr.write(line)
        process.exit(await child.wait())

    async def serve():
        keys = [asyncssh.generate_private_key("ssh-ed25519")]
        kinds = {"server_factory": Server, "process_factory": execute}
        return await asyncssh.listen("127.0.0.1", 0, server_host_keys=keys, encoding=None, **kinds)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(), loop).result(30)
    yield server.get_port(), password, commands
    server.close()
    asyncio.run_coroutine_threadsafe(server.wait_closed(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def hosts_over_ssh(folder, port, password):
    """Return the path of a cluster file whose scheduler and whose one worker are on this machine."""
    reach = f"{{port: {port}, username: me, password: {password}, known_hosts: null}}"
    path = folder / "ssh.yaml"
    path.write_text(
        f"ssh: {{hosts: [127.0.0.1, 127.0.0.1], connect_options: {reach}, "
        "worker_options: {nthreads: 1, interface: lo}}\n"
    )
    return str(path)


def test_hosts_over_ssh_work_and_talk_to_nobody_without_the_key_of_the_run(ssh_host, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    port, password, commands = ssh_host
    before = set(psutil.Process().children(recursive=True))
    with open_cluster(hosts_over_ssh(tmp_path, port, password)) as executor:
        assert executor.submit(os.getpid).result(300) != os.getpid()
        address = executor._client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        refuses_strangers(address)
        started = set(psutil.Process().children(recursive=True)) - before
        sockets = [one for process in started for one in process.net_connections("tcp")]
        assert {one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
        (keys,) = tmp_path.glob(".covey-keys-*/key")
        assert keys.stat().st_mode & 0o77 == 0
        assert len([command for command in commands if str(keys) in command]) == 2
        assert not [command for command in commands if "PRIVATE KEY" in command], "others see what is on a command line"
    assert not list(tmp_path.glob(".covey-keys-*"))
    assert not psutil.wait_procs(started, timeout=300)[1]


def test_a_host_that_lets_nobody_in_is_a_failure_of_the_cluster(ssh_host, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = hosts_over_ssh(tmp_path, ssh_host[0], "another")
    (tmp_path / "design.yaml").write_text("design: d\nscenario: hello\n")
    assert main(["run", "design.yaml", "--cluster", file, "--out", "out", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "ssh.yaml: ssh: Cluster failed to start: Permission denied" in said
    assert "accept your SSH login without a prompt" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ssh: {hosts: []}", "ssh.hosts: write the names of at least two hosts"),
        ("ssh: {hosts: node1}", "ssh.hosts: write the names"),
        ("ssh: {hosts: [1, 2]}", "ssh.hosts: write the names"),
        ("ssh: {}", "ssh.hosts: write the names"),
        ("slurm: {cores: 1, memory: 1GB}", "name the network by which the workers reach this machine"),
    ],
)
def test_cluster_files_of_odd_shapes_are_bad_input(text, said, tmp_path, capsys):
    (tmp_path / "cluster.yaml").write_text(text)
    (tmp_path / "design.yaml").write_text("design: d\nscenario: hello\n")
    command = ["run", str(tmp_path / "design.yaml"), "--cluster", str(tmp_path / "cluster.yaml"), "--dry-run"]
    assert main(command) == 2
    assert said in capsys.readouterr().err


def test_trusted_only_refuses_a_cluster_file_that_runs_commands(tmp_path, capsys):
    lines = "slurm: {cores: 1, memory: 1GB, interface: lo, job_script_prologue: ['touch it_ran']}"
    (tmp_path / "cluster.yaml").write_text(lines)
    (tmp_path / "design.yaml").write_text("design: d\nscenario: hello\n")
    command = ["run", str(tmp_path / "design.yaml"), "--cluster", str(tmp_path / "cluster.yaml"), "--trusted-only"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    assert "slurm.job_script_prologue may run commands, which --trusted-only refuses" in capsys.readouterr().err
