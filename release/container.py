"""Build a container and use it as its users do, where neither Docker nor its registry can be reached.

buildah follows the steps of the file, podman runs what it has built: the user, a folder of the host, a published port
and the end by a signal are those of a real container. Only the base is another one, made by debootstrap: Debian with
its Python in the place of python:3.11-slim-bookworm, and in that of ros:jazzy Debian without any ROS. So what ROS
itself does is not tried. Needs root, the network, and Debian's buildah, podman, runc and debootstrap.

    sudo python release/container.py [release/ros.Dockerfile]       # or: make container
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from covey.viewer.messages import PROTOCOL

PYTHON = "python3,python3-pip,python3-venv,python-is-python3,ca-certificates"
BASES = {
    "python:3.11-slim-bookworm": ("bookworm", PYTHON),
    "ros:jazzy": ("trixie", "python3,ca-certificates"),
}
"""For each image that a file starts from, the release of Debian in its place, and the packages of it."""
ROS_PACKAGE = "ros-jazzy-rmw-cyclonedds-cpp"
OF_MACHINE = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Files without which a build may have no network."""
PORT, OWNER = 8080, 1234
START_S = 300.0


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile and their arguments.

    >>> instructions("# a comment\\nFROM a\\nRUN b && \\\\\\n  c")
    [('FROM', 'a'), ('RUN', 'b &&   c')]
    """
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


class Store:
    """Images below a folder.

    Args:
        folder: where they are, and stay for the next time.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._where = ["--root", str(folder / "images"), "--runroot", str(folder / "state")]

    def buildah(self, *words: str) -> str:
        """Call buildah; return what it prints.

        Raises:
            subprocess.CalledProcessError: it fails.
        """
        done = subprocess.run(["buildah", *self._where, *words], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def command(self, image: str, *words: str, options: tuple[str, ...] = ()) -> list[str]:
        """Return the command line that runs an image, as `docker run --rm` does."""
        limits = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]  # podman's own need more rights
        podman = ["podman", *self._where, "--cgroup-manager", "cgroupfs", "--runtime", "/usr/sbin/runc"]
        return [*podman, "run", "--rm", *limits, *options, image, *words]

    def run(self, image: str, *words: str, options: tuple[str, ...] = ()) -> str:
        """Run an image to its end; return what it prints.

        Raises:
            subprocess.CalledProcessError: it fails.
        """
        command = self.command(image, *words, options=options)
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def make_base(self, name: str) -> None:
        """Make the image that stands for a base, unless it is there."""
        tag = f"docker.io/library/{name}"
        if tag in self.buildah("images", "--format", "{{.Name}}:{{.Tag}}").split():
            return
        release, packages = BASES[name]
        with tempfile.TemporaryDirectory(dir=self.folder) as made:
            root = Path(made, "root")
            subprocess.run(["debootstrap", "--variant=minbase", f"--include={packages}", release, root], check=True)
            if name.startswith("ros:"):
                _pretend_ros(root)
            container = self.buildah("from", "scratch")
            self.buildah("add", "--quiet", container, str(root), "/")
        self.buildah("config", "--env", "PIP_BREAK_SYSTEM_PACKAGES=1", container)  # as this Python is Debian's
        self.buildah("commit", "--quiet", "--rm", container, tag)

    def build(self, file: Path, tag: str) -> None:
        """Follow the steps of a Dockerfile, from the folder above its own."""
        self.make_base(next(rest for word, rest in instructions(file.read_text()) if word == "FROM"))
        mounts = [word for name in OF_MACHINE if Path(name).is_file() for word in ("--volume", f"{name}:{name}:ro")]
        how = ["--isolation", "chroot", "--pull-never", "--format", "docker", "--layers"]
        context = str(file.resolve().parents[1])
        self.buildah("bud", *how, *mounts, "--build-arg", f"UID={OWNER}", "--file", str(file), "--tag", tag, context)


def _pretend_ros(root: Path) -> None:
    """Put into a Debian what the file takes from ros:jazzy: a package of ROS, without content, and the entry point."""
    control = root / "pretended/DEBIAN/control"
    control.parent.mkdir(parents=True)
    who = "Maintainer: nobody <nobody@localhost>\nDescription: stands for the package of ROS\n"
    control.write_text(f"Package: {ROS_PACKAGE}\nVersion: 1\nArchitecture: all\n{who}")
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", control.parents[1]], check=True)
    subprocess.run(["chroot", root, "dpkg", "--install", "/pretended.deb"], check=True)
    entry = root / "ros_entrypoint.sh"
    entry.write_text('#!/bin/sh\nexec "$@"\n')
    entry.chmod(0o755)


def check(what: str, holds: bool) -> None:
    """Print what has been seen.

    Raises:
        SystemExit: it does not hold.
    """
    print(f"{'ok   ' if holds else 'WRONG'}  {what}", flush=True)
    if not holds:
        raise SystemExit(1)


def try_covey(store: Store, tag: str) -> None:
    """Use the image as the first lines of its file say."""
    shell = ("--entrypoint", "sh")
    check("its user is not root", store.run(tag, "-c", "id -u", options=shell) == str(OWNER))
    kernels = "ls ~/.cache/covey/kernels/* | sort"
    listed = f"{kernels}; echo ===; covey run maze -q > /dev/null; {kernels}"
    before, after = store.run(tag, "-c", listed, options=shell).split("===")
    check("nothing of maze is compiled again", before.split() == after.split() != [])

    with tempfile.TemporaryDirectory() as here:
        runs = Path(here, "runs")
        runs.mkdir()
        os.chown(runs, OWNER, OWNER)
        mount = ("--volume", f"{runs}:/work/runs")
        store.run(tag, "run", "maze", "-q", options=mount)
        check("the run is in the folder of the host", (runs / "maze/latest/figures/overview.png").is_file())
        with _live(store, tag, ["run", "maze", "--live"]) as address:
            _try_page(address)
        with _live(store, tag, ["view", "runs/maze/latest"], options=mount) as address:
            _try_page(address)


@contextmanager
def _live(store: Store, tag: str, words: list[str], options: tuple[str, ...] = ()) -> Iterator[str]:
    """Start what shows a page; yield the address that it prints; end it as `docker stop` does."""
    publish = ("--publish", f"{PORT}:{PORT}", *options)
    command = store.command(tag, *words, "--host", "0.0.0.0", "--port", str(PORT), options=publish)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if found := re.search(r"http://\S+", line):
                break
        else:
            raise SystemExit(f"{' '.join(words)} has printed no address")
        yield found[0]
        began = time.monotonic()
        process.terminate()
        process.stdout.read()
    check(f"covey {words[0]} ends when it is told, by itself", time.monotonic() - began < 9.0)


def _try_page(address: str) -> None:
    there, _, token = address.partition("/#token=")
    check(f"its address leads in from the host: {there}", there == f"http://127.0.0.1:{PORT}")
    check("the page is there", b"<title>Covey</title>" in _page(f"{there}/"))
    socket = f"ws{there.removeprefix('http')}/ws"
    with connect(socket, origin=there, subprotocols=[PROTOCOL, f"token.{token}"]) as page:  # pyright: ignore
        check("with its token the run comes", len(page.recv(timeout=START_S)) > 0)
    try:
        connect(socket, origin=there, subprotocols=[PROTOCOL, "token.another"])  # pyright: ignore
        status = 101
    except InvalidStatus as refused:
        status = refused.response.status_code
    check("with another token it does not", status == 401)


def _page(address: str) -> bytes:
    """Return a page, as soon as the bridge of the container leads to it."""
    end = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(address, timeout=START_S) as answer:
                return answer.read()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def try_ros(store: Store, tag: str) -> None:
    """Use the image as the first lines of its file say, but for the programs of ROS."""
    check("its user is not root", store.run(tag, "id", "-un") == "covey")
    said = store.run(tag, "covey", "doctor")
    check("the extra ros2 is there", re.search(r"extra ros2\s+(?!not)", said) is not None)
    run = "covey ros run office -s stop.timeout_s=5 --out /tmp/office || test $? = 3"  # 3: its time is over
    said = store.run(tag, "sh", "-c", run, options=("--network", "none"))
    check("a team runs as nodes of ROS 2", "/tmp/office" in said)


def main() -> None:
    """Try a container from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=Path(__file__).with_name("Dockerfile"))
    parser.add_argument("--images", type=Path, default=Path("/var/tmp/covey-images"), help="folder of the images")
    given = parser.parse_args()
    missing = [one for one in ("buildah", "podman", "runc", "debootstrap") if not shutil.which(one)]
    if missing or os.geteuid() != 0:
        parser.error(f"needs root, and Debian's {', '.join(missing) or 'packages, which are there'}")
    given.images.mkdir(parents=True, exist_ok=True)
    store = Store(given.images)
    ros = given.file.name.startswith("ros")
    tag = "covey-ros" if ros else "covey"
    store.build(given.file, tag)
    (try_ros if ros else try_covey)(store, tag)


if __name__ == "__main__":
    main()
