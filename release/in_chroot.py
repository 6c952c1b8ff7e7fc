"""Try the steps of a Dockerfile without Docker, in a chroot that debootstrap has made.

Each COPY and RUN is done below a folder, as the user and in the folder that USER and WORKDIR say, and then a command.
Needs root, debootstrap and the network. Debian's packages take the place of the base image, so FROM, EXPOSE and the
network of a container are not tried.

    sudo python release/in_chroot.py release/Dockerfile /tmp/root -- covey run hello
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

BASE = "bookworm", "python3,python3-pip,python3-venv,python-is-python3,ca-certificates"
OF_MACHINE = ("etc/resolv.conf", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
"""Files without which a chroot has no network."""


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile and their arguments.

    >>> instructions("# a comment\\nFROM a\\nRUN b && \\\\\\n  c")
    [('FROM', 'a'), ('RUN', 'b &&   c')]
    """
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


class Chroot:
    """A folder in which commands run as a user, in a folder, with variables."""

    def __init__(self, root: Path) -> None:
        self.root, self.user, self.folder = root, "root", "/"
        self.variables = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "PIP_BREAK_SYSTEM_PACKAGES": "1"}

    def make(self) -> None:
        """Install the base, unless it is there."""
        if not (self.root / "usr/bin/python").exists():
            suite, packages = BASE
            subprocess.run(["debootstrap", "--variant=minbase", f"--include={packages}", suite, self.root], check=True)
        for name in OF_MACHINE:
            if Path("/", name).is_file():
                shutil.copy(Path("/", name).resolve(), self.root / name)

    def run(self, command: str) -> None:
        """Run a command of the shell.

        Raises:
            subprocess.CalledProcessError: it fails.
        """
        inside = f"cd {shlex.quote(self.folder)} && {command}"
        of_user = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups"]
        home = {"HOME": "/root" if self.user == "root" else f"/home/{self.user}"}
        start = ["chroot", self.root, *of_user, "sh", "-c", inside]
        mounts = f'mount -t proc proc {self.root}/proc && mount --rbind /dev {self.root}/dev && exec "$@"'
        subprocess.run(["unshare", "-m", "sh", "-c", mounts, "sh", *start], check=True, env=self.variables | home)

    def follow(self, word: str, rest: str, context: Path) -> None:
        """Do what an instruction says; FROM, EXPOSE, ENTRYPOINT and CMD do nothing here."""
        if word == "RUN":
            self.run(rest)
        elif word == "COPY":
            *sources, target = rest.split()
            into = self.root / target.strip("/")
            for source in sources:
                if (context / source).is_dir():
                    ignored = shutil.ignore_patterns("__pycache__")
                    shutil.copytree(context / source, into, dirs_exist_ok=True, ignore=ignored)
                else:
                    into.mkdir(parents=True, exist_ok=True)
                    shutil.copy(context / source, into)
        elif word == "USER":
            self.user = rest
        elif word == "WORKDIR":
            self.folder = rest
        elif word == "ENV":
            for name, value in re.findall(r"(\w+)=(\S+)", rest):
                self.variables[name] = value.replace("$PATH", self.variables["PATH"])


def main() -> None:
    """Try a Dockerfile from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("root", type=Path, help="folder of the chroot")
    parser.add_argument(
        "command", nargs="*", default=["covey", "doctor"], help="after all steps; default: covey doctor"
    )
    given = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("only root can make a chroot")
    chroot = Chroot(given.root.resolve())
    chroot.make()
    for word, rest in instructions(given.file.read_text()):
        print(f"== {word} {rest}", flush=True)
        chroot.follow(word, rest, Path.cwd())
    chroot.run(shlex.join(given.command))


if __name__ == "__main__":
    main()
