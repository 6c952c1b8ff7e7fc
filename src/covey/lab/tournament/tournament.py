"""All games of a tournament, on all cores; what was played is kept."""

import hashlib
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from covey import __version__
from covey.errors import InvalidValueError
from covey.lab.tournament.files import files_in
from covey.lab.tournament.games import game_of
from covey.lab.tournament.match import GameOutcome, LawLimits, VoidGameError, hash_of, play_match
from covey.lab.tournament.ranking import Rating, bradley_terry
from covey.results.folder import write_whole


@dataclass(frozen=True)
class Match:
    """One game to be played: a file for each side, its hash, and the number of the start."""

    files: Mapping[str, Path]
    hashes: Mapping[str, str]
    start: int
    key: str

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the laws, in the order of the sides."""
        return tuple(path.stem for path in self.files.values())


class Tournament:
    """A tournament in a folder.

    Args:
        game: name of a game, or a Python file that defines one.
        folders: a folder of law files for each side of the game.
        out: folder for games and standings; games that it holds already are not played again, unless their files have
            changed.
        starts: number of starts; each pair of laws plays from each.
        limits: what each law may take in a step.

    Attributes:
        outcomes: of the games that were played, by key.
        void: why games count for nobody, by key; they are played again next time.

    Raises:
        InvalidValueError: a folder is missing or empty, there are too many or too few, or a number is not positive.
        UnknownNameError: there is no such game.
    """

    def __init__(self, game: str, folders: Sequence[Path], out: Path, starts: int = 1, limits: LawLimits = LawLimits()):
        self.game_name, self.game, self.out, self.limits = game, game_of(game), out, limits
        sides = self.game.sides
        if len(folders) != len(sides):
            wanted = " and ".join(sides)
            raise InvalidValueError(
                f"game {self.game.name!r} has {len(sides)} side{'s' * (len(sides) > 1)}, {wanted}; give a folder for "
                f"each; given: {len(folders)}"
            )
        if not 1 <= starts <= 1000:
            raise InvalidValueError(f"starts is {starts}; give 1 to 1000")
        self.files = {side: files_in(folder) for side, folder in zip(sides, folders, strict=True)}
        self.matches = list(self._all(starts))
        self.outcomes: dict[str, GameOutcome] = {}
        self.void: dict[str, str] = {}
        self._hashes: dict[str, str] = {}  # of the files of games
        for match in self.matches:
            if (row := self._row(match)).exists():
                data = row.read_bytes()
                self.outcomes[match.key] = GameOutcome(**json.loads(data))
                self._hashes[match.key] = hashlib.sha256(data).hexdigest()

    def _all(self, starts: int) -> Iterator[Match]:
        shown = {path: hash_of(path) for files in self.files.values() for path in files}
        game = self.game_name
        rules = hashlib.sha256(Path(game).read_bytes()).hexdigest() if game.endswith(".py") else game
        for start, chosen in itertools.product(range(starts), itertools.product(*self.files.values())):
            facts = [__version__, rules, start, *self.limits, *(shown[path] for path in chosen)]
            key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]
            names = "-".join(path.stem for path in chosen)
            files = dict(zip(self.files, (path.resolve() for path in chosen), strict=True))
            hashes = dict(zip(self.files, (shown[path] for path in chosen), strict=True))
            yield Match(files, hashes, start, f"{names}-{start}-{key}")

    def _folder(self, match: Match) -> Path:
        return self.out / "games" / match.key

    def _row(self, match: Match) -> Path:
        return self._folder(match).with_name(f"{match.key}.json")

    @property
    def missing(self) -> list[Match]:
        """The games that have not been played."""
        return [match for match in self.matches if match.key not in self.outcomes]

    def play(self, jobs: int, told: Callable[[Match, GameOutcome], Any] = lambda match, outcome: None) -> None:
        """Play all missing games.

        Args:
            jobs: number of games at a time.
            told: is called after each game that counts.
        """
        (self.out / "games").mkdir(parents=True, exist_ok=True)
        self.void = {}
        left = self.missing
        while left:  # a law that takes the process of its game with it does not end the tournament, nor other games
            lost = self._played(left, jobs, told)
            begun = [match for match in lost if self._folder(match).exists()] or lost
            for match in begun:
                if self._played([match], 1, told):
                    self._lose_or_void(match, told)
            left = [match for match in lost if match not in begun]

    def _lose_or_void(self, match: Match, told: Callable[[Match, GameOutcome], Any]) -> None:
        """Note that the process of a game has ended though nothing else was played."""
        why = "the process of the game ended"
        if len(match.files) > 1:
            self.void[match.key] = f"{why}, and nobody knows by which law"
            return
        outcome = GameOutcome(float("nan"), "failed", 0.0, dict.fromkeys(match.files, why), {})
        self._keep(match, outcome)
        told(match, outcome)

    def check_rows(self) -> int:
        """Write the files of games anew that have changed since they were read or written; return how many."""
        known = [match for match in self.matches if match.key in self.outcomes]
        changed = [match for match in known if hash_of(self._row(match)) != self._hashes[match.key]]
        for match in changed:
            self._write(match)
        return len(changed)

    def _played(self, matches: list[Match], jobs: int, told: Callable[[Match, GameOutcome], Any]) -> list[Match]:
        """Play games; return those whose process was lost."""
        lost: list[Match] = []
        workers, context = max(1, min(jobs, len(matches))), get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_forget_main) as pool:
            of: dict[Future[GameOutcome], Match] = {}
            for match in matches:
                given = self.game_name, match.files, match.start, self.limits, self._folder(match), match.hashes
                of[pool.submit(play_match, *given)] = match
            try:
                for future in as_completed(of):
                    try:
                        outcome = future.result()
                    except BrokenProcessPool:
                        lost.append(of[future])
                        continue
                    except VoidGameError as error:
                        self.void[of[future].key] = str(error)
                        continue
                    self._keep(of[future], outcome)
                    told(of[future], outcome)
            except Exception:
                pool.shutdown(cancel_futures=True)  # waits for the games under way, which write to folders
                for future, match in of.items():
                    if match.key not in self.outcomes and not future.cancelled() and future.exception() is None:
                        self._keep(match, future.result())
                raise
            except BaseException:  # interrupted, and so are the games
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return lost

    def _keep(self, match: Match, outcome: GameOutcome) -> None:
        self.outcomes[match.key] = outcome
        self._write(match)

    def _write(self, match: Match) -> None:
        """Write the file of a game, even if somebody has removed its folder."""
        data = json.dumps(self.outcomes[match.key]._asdict()).encode()
        self._hashes[match.key] = hashlib.sha256(data).hexdigest()
        self._row(match).parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._row(match), data)

    def standings(self) -> list["RankingLine"]:
        """Return the ranking of the laws of each side, from the games played so far, best first."""
        names = [(side, path.stem) for side, files in self.files.items() for path in files]
        at = {name: i for i, name in enumerate(names)}
        wins = np.zeros((len(names), len(names)))
        for i, j, share in self._duels(at):
            wins[i, j] += share
            wins[j, i] += 1.0 - share
        sides = np.array([list(self.files).index(side) for side, _ in names])
        rating: Rating = bradley_terry(wins, sides)
        failures = dict.fromkeys(names, 0)
        for match in self.matches:
            if (outcome := self.outcomes.get(match.key)) is not None:
                for side in outcome.failed:
                    failures[side, match.files[side].stem] += 1
        rows = [
            RankingLine(
                *names[i], float(rating.strength[i]), float(rating.low[i]), float(rating.high[i]),
                float(wins[i].sum()), float((wins[i] + wins[:, i]).sum()), failures[names[i]],
            )
            for i in range(len(names))
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (list(self.files).index(row.side), -row.strength, row.name))

    def _duels(self, at: Mapping[tuple[str, str], int]) -> Iterator[tuple[int, int, float]]:
        """Yield each comparison of two laws: their indices, and the share of the first in the win."""
        played = [(match, self.outcomes[match.key]) for match in self.matches if match.key in self.outcomes]
        if len(self.files) == 2:
            for match, outcome in played:
                if not np.isnan(outcome.score):
                    first, second = (at[side, path.stem] for side, path in match.files.items())
                    yield first, second, outcome.score
            return
        side = next(iter(self.files))
        for (one, a), (other, b) in itertools.combinations(played, 2):
            if one.start == other.start:
                yield at[side, one.players[0]], at[side, other.players[0]], self._better(a, b)

    def _better(self, a: GameOutcome, b: GameOutcome) -> float:
        """Return 1 if a beats b, 0 if b beats a, else 0.5; who failed loses, and then who has no score."""
        for worse, other in ((bool(a.failed), bool(b.failed)), (np.isnan(a.score), np.isnan(b.score))):
            if worse or other:
                return 0.5 if worse and other else float(other)
        if a.score == b.score:
            return 0.5
        return float((a.score < b.score) == self.game.smaller_wins)


def _forget_main() -> None:
    """Forget the program that plays the tournament, so that the processes of laws do not import it."""
    sys.modules["__main__"] = ModuleType("__main__")


@dataclass(frozen=True)
class RankingLine:
    """One line of the ranking.

    Attributes:
        side, name: whose.
        strength, low, high: see `bradley_terry`.
        won, games: how many of how many comparisons with other laws; a draw counts one half.
        failures: games lost because the law failed.
    """

    side: str
    name: str
    strength: float
    low: float
    high: float
    won: float
    games: float
    failures: int
