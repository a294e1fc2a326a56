"""The sliding puzzle: tiles on a board with one gap, to be put in order."""

import dataclasses
import random
from typing import TypedDict

import ray

from nemo_rl.environments.answer_tags import last_opened
from nemo_rl.environments.interfaces import (
    EnvironmentInterface,
    EnvironmentReturn,
    MessageLog,
    check_batch,
    last_response,
)

Board = list[list[int]]
"""Rows of tiles, 0 is the gap."""

# Where the tile that moves lies, seen from the gap.
TILE_OFFSETS = {"up": (1, 0), "down": (-1, 0), "left": (0, 1), "right": (0, -1)}


@dataclasses.dataclass(frozen=True)
class SlidingPuzzleConfig:
    """``max_moves``: an episode ends, unsolved, after that many responses, legal or not."""

    max_moves: int = 50

    def __post_init__(self) -> None:
        if self.max_moves < 1:
            raise ValueError(f"max_moves has to be positive, got {self.max_moves}")


class SlidingPuzzleMetadata(TypedDict):
    """``board`` as it stands, and the number of ``moves`` made, legal or not."""

    board: Board
    moves: int


def solved_board(rows: int, columns: int) -> Board:
    """Tiles in reading order, the gap last."""
    tiles = [*range(1, rows * columns), 0]
    return [tiles[row * columns : (row + 1) * columns] for row in range(rows)]


def is_solvable(board: Board) -> bool:
    """Whether moves lead from the board to the solved one.

    A move of the gap swaps it with a tile, so it changes the parity of the permutation and the parity of the gap's
    distance from its corner together: a board is solvable when both are equal. On a board of one row or one column
    tiles never pass each other, so there the order of the tiles has to be right.
    Source: W. W. Johnson and W. E. Story, American Journal of Mathematics 2 (1879).
    """
    rows, columns = len(board), len(board[0])
    tiles = [tile for row in board for tile in row]
    if min(rows, columns) == 1:
        return [tile for tile in tiles if tile] == list(range(1, rows * columns))
    gap_row, gap_column = find_gap(board)
    distance = (rows - 1 - gap_row) + (columns - 1 - gap_column)
    return _is_odd([tile or len(tiles) for tile in tiles]) == bool(distance % 2)


def _is_odd(permutation: list[int]) -> bool:
    """Parity of a permutation of 1..n: n minus the number of its cycles."""
    seen = [False] * len(permutation)
    cycles = 0
    for start in range(len(permutation)):
        cycles += not seen[start]
        while not seen[start]:
            seen[start] = True
            start = permutation[start] - 1
    return bool((len(permutation) - cycles) % 2)


def new_board(rows: int, columns: int, seed: int) -> Board:
    """A shuffled board that is solvable and not solved; all of these are equally likely.

    Raises:
        ValueError: fewer than 2 rows or columns.
    """
    if rows < 2 or columns < 2:
        raise ValueError(f"a sliding puzzle needs at least 2 rows and 2 columns, got {rows} x {columns}")
    generator = random.Random(seed)
    tiles = list(range(rows * columns))
    while True:
        generator.shuffle(tiles)
        board = [tiles[row * columns : (row + 1) * columns] for row in range(rows)]
        if is_solvable(board) and board != solved_board(rows, columns):
            return board


def new_game(rows: int, columns: int, seed: int) -> SlidingPuzzleMetadata:
    """The metadata of an episode's first step."""
    return {"board": new_board(rows, columns, seed), "moves": 0}


def find_gap(board: Board) -> tuple[int, int]:
    """Row and column of the gap."""
    return next((row, column) for row, tiles in enumerate(board) for column, tile in enumerate(tiles) if tile == 0)


def slide(board: Board, direction: str) -> Board | None:
    """The board after a tile moved into the gap; ``None`` where no tile can move in that direction.

    Args:
        board: is not changed.
        direction: in which the tile moves: ``up``, ``down``, ``left`` or ``right``.
    """
    if direction not in TILE_OFFSETS:
        return None
    gap_row, gap_column = find_gap(board)
    row, column = gap_row + TILE_OFFSETS[direction][0], gap_column + TILE_OFFSETS[direction][1]
    if not (0 <= row < len(board) and 0 <= column < len(board[0])):
        return None
    moved = [list(tiles) for tiles in board]
    moved[gap_row][gap_column], moved[row][column] = moved[row][column], 0
    return moved


def legal_moves(board: Board) -> list[str]:
    """The directions in which a tile can move."""
    return [direction for direction in TILE_OFFSETS if slide(board, direction) is not None]


def render(board: Board) -> str:
    """The board as text, one row a line, ``_`` for the gap."""
    width = len(str(len(board) * len(board[0]) - 1))
    return "\n".join(" ".join((str(tile) if tile else "_").rjust(width) for tile in row) for row in board)


def check_board(board: Board) -> None:
    """Reject what is no solvable sliding puzzle.

    Raises:
        ValueError: rows of different lengths, tiles other than 0..n-1 each once, or no way to solve it.
    """
    if not board or not board[0] or any(len(row) != len(board[0]) for row in board):
        raise ValueError(f"a board needs rows of equal length, got {board}")
    tiles = sorted(tile for row in board for tile in row)
    if tiles != list(range(len(tiles))):
        raise ValueError(f"a board of {len(tiles)} fields has the tiles 0 to {len(tiles) - 1}, each once, got {board}")
    if not is_solvable(board):
        raise ValueError(f"no moves solve the board {board}")


class SlidingPuzzleEnvImpl(EnvironmentInterface[SlidingPuzzleMetadata]):
    """Plays one move for each response, the last ``<action>up|down|left|right</action>``: where a tile moves to.

    Reward 1 for the move that solves the puzzle, 0 for every other. A response without an action, with an unknown one
    or an impossible one leaves the board as it is, counts as a move and is explained. The game is in the metadata, so
    one environment plays any number of games at once; a start that is already solved ends at once, with reward 1.
    """

    def __init__(self, cfg: SlidingPuzzleConfig | None = None) -> None:
        self.cfg = cfg or SlidingPuzzleConfig()

    def step(
        self, message_log_batch: list[MessageLog], metadata: list[SlidingPuzzleMetadata]
    ) -> EnvironmentReturn[SlidingPuzzleMetadata]:
        """See :meth:`EnvironmentInterface.step`; ``answers`` are the actions.

        Raises:
            ValueError: as there, or a board is no solvable sliding puzzle.
        """
        check_batch(message_log_batch, metadata)
        for item in metadata:
            check_board(item["board"])
        actions = [last_opened(last_response(log), "action") for log in message_log_batch]
        boards = [_moved(item["board"], action) for item, action in zip(metadata, actions, strict=True)]
        now = [board or item["board"] for board, item in zip(boards, metadata, strict=True)]
        solved = [board == solved_board(len(board), len(board[0])) for board in now]
        moves = [item["moves"] + 1 for item in metadata]
        ended = [win or made >= self.cfg.max_moves for win, made in zip(solved, moves, strict=True)]
        following: list[SlidingPuzzleMetadata | None] = [
            None if end else {"board": board, "moves": made} for end, board, made in zip(ended, now, moves, strict=True)
        ]
        return EnvironmentReturn(
            observations=[
                {"role": "environment", "content": _observation(action, board, current, win)}
                for action, board, current, win in zip(actions, boards, now, solved, strict=True)
            ],
            metadata=following,
            rewards=[float(win) for win in solved],
            terminateds=ended,
            next_stop_strings=[None if end else ["</action>"] for end in ended],
            answers=actions,
        )


def _moved(board: Board, action: str | None) -> Board | None:
    if action is None or board == solved_board(len(board), len(board[0])):
        return None
    return slide(board, action.lower())


def _observation(action: str | None, moved: Board | None, board: Board, solved: bool) -> str:
    if solved:
        return f"{render(board)}\nEnvironment: solved"
    options = f"tiles can move: {', '.join(legal_moves(board))}"
    if moved is not None:
        return f"{render(board)}\nEnvironment: {options}"
    if action is None:
        return f"{render(board)}\nEnvironment: no move found; write it between <action> and </action>; {options}"
    return f"{render(board)}\nEnvironment: {action[:20]!r} is not possible; {options}"


@ray.remote
class SlidingPuzzleEnv(SlidingPuzzleEnvImpl):
    """:class:`SlidingPuzzleEnvImpl` as a Ray actor."""
