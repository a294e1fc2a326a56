import itertools

import pytest
import ray

from nemo_rl.environments.games.sliding_puzzle import (
    SlidingPuzzleConfig,
    SlidingPuzzleEnv,
    SlidingPuzzleEnvImpl,
    check_board,
    is_solvable,
    legal_moves,
    new_board,
    new_game,
    render,
    slide,
    solved_board,
)

ONE_MOVE_LEFT = [[1, 2], [0, 3]]


def reachable_boards(rows, columns):
    """Every board that moves lead to from the solved one, by trying all."""
    start = solved_board(rows, columns)
    found, pending = {str(start)}, [start]
    while pending:
        board = pending.pop()
        for direction in legal_moves(board):
            moved = slide(board, direction)
            if str(moved) not in found:
                found.add(str(moved))
                pending.append(moved)
    return found


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2), (1, 4), (4, 1)])
def test_parity_says_exactly_which_boards_moves_can_solve(rows, columns):
    reachable = reachable_boards(rows, columns)
    for tiles in itertools.permutations(range(rows * columns)):
        board = [list(tiles[row * columns : (row + 1) * columns]) for row in range(rows)]
        assert is_solvable(board) == (str(board) in reachable)


@pytest.mark.parametrize("seed", range(20))
def test_new_games_are_solvable_shuffled_and_repeatable(seed):
    board = new_board(3, 3, seed)
    assert is_solvable(board)
    assert board != solved_board(3, 3)
    assert board == new_board(3, 3, seed)
    check_board(board)


def test_new_games_differ_with_the_seed():
    assert len({str(new_board(4, 4, seed)) for seed in range(20)}) == 20


def test_a_board_needs_two_rows_and_columns():
    with pytest.raises(ValueError, match="at least 2 rows and 2 columns, got 1 x 4"):
        new_board(1, 4, 0)


def test_a_tile_moves_into_the_gap():
    board = [[1, 2, 3], [4, 0, 5], [6, 7, 8]]
    assert slide(board, "up") == [[1, 2, 3], [4, 7, 5], [6, 0, 8]]
    assert slide(board, "down") == [[1, 0, 3], [4, 2, 5], [6, 7, 8]]
    assert slide(board, "left") == [[1, 2, 3], [4, 5, 0], [6, 7, 8]]
    assert slide(board, "right") == [[1, 2, 3], [0, 4, 5], [6, 7, 8]]
    assert board == [[1, 2, 3], [4, 0, 5], [6, 7, 8]]


def test_only_moves_on_the_board_are_legal():
    assert legal_moves(solved_board(2, 2)) == ["down", "right"]
    assert slide(solved_board(2, 2), "up") is None
    assert slide(solved_board(2, 2), "sideways") is None


def test_a_board_is_shown_with_a_gap():
    assert render(solved_board(2, 2)) == "1 2\n3 _"
    assert render(solved_board(3, 4)).splitlines()[-1] == " 9 10 11  _"


def test_the_move_that_solves_the_puzzle_is_rewarded(conversation):
    result = SlidingPuzzleEnvImpl().step(
        [conversation("so <action>left</action>")], [{"board": ONE_MOVE_LEFT, "moves": 3}]
    )
    assert (result.rewards, result.terminateds, result.metadata) == ([1.0], [True], [None])
    assert result.observations[0]["content"] == "1 2\n3 _\nEnvironment: solved"


def test_a_game_is_played_to_its_end(conversation):
    environment = SlidingPuzzleEnvImpl()
    metadata = [{"board": [[0, 2], [1, 3]], "moves": 0}]
    rewards = []
    for action in ("<action>up</action>", "<action>LEFT"):
        result = environment.step([conversation(action)], metadata)
        rewards += result.rewards
        metadata = result.metadata
    assert rewards == [0.0, 1.0]
    assert result.terminateds == [True]


@pytest.mark.parametrize(
    ("response", "explanation"),
    [
        ("<action>right</action>", "'right' is not possible; tiles can move: down, left"),
        ("<action>jump</action>", "'jump' is not possible"),
        ("left", "no move found; write it between <action> and </action>"),
        ("", "no move found"),
        ("<action>" + "x" * 1_000_000 + "</action>", "no move found"),
        ("<action>" + "{" * 1000 + "</action>", "is not possible"),
    ],
)
def test_an_impossible_move_is_explained_and_counts(conversation, response, explanation):
    result = SlidingPuzzleEnvImpl().step([conversation(response)], [{"board": ONE_MOVE_LEFT, "moves": 0}])
    assert result.metadata == [{"board": ONE_MOVE_LEFT, "moves": 1}]
    assert (result.rewards, result.terminateds) == ([0.0], [False])
    assert explanation in result.observations[0]["content"]


def test_an_episode_ends_unsolved_after_the_last_move(conversation):
    environment = SlidingPuzzleEnvImpl(SlidingPuzzleConfig(max_moves=2))
    first = environment.step([conversation("")], [{"board": ONE_MOVE_LEFT, "moves": 0}])
    second = environment.step([conversation("")], first.metadata)
    assert (first.terminateds, second.terminateds, second.rewards) == ([False], [True], [0.0])


def test_a_solved_start_ends_at_once(conversation):
    result = SlidingPuzzleEnvImpl().step(
        [conversation("<action>down</action>")], [{"board": solved_board(2, 2), "moves": 0}]
    )
    assert (result.rewards, result.terminateds) == ([1.0], [True])


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ([], "rows of equal length"),
        ([[1, 2], [0]], "rows of equal length"),
        ([[1, 1], [2, 0]], "tiles 0 to 3, each once"),
        ([[2, 1], [3, 0]], "no moves solve the board"),
    ],
)
def test_a_board_that_is_no_puzzle_is_an_error(conversation, board, message):
    with pytest.raises(ValueError, match=message):
        SlidingPuzzleEnvImpl().step([conversation("")], [{"board": board, "moves": 0}])


def test_an_empty_batch_unequal_lengths_and_no_moves_are_errors(conversation):
    with pytest.raises(ValueError, match="batch is empty"):
        SlidingPuzzleEnvImpl().step([], [])
    with pytest.raises(ValueError, match="1 conversations and 0 metadata"):
        SlidingPuzzleEnvImpl().step([conversation("x")], [])
    with pytest.raises(ValueError, match="max_moves has to be positive"):
        SlidingPuzzleConfig(max_moves=0)


@pytest.mark.xdist_group("ray")
def test_through_ray_a_batch_split_in_two_gives_the_same(ray_cluster, conversation):
    actor = SlidingPuzzleEnv.remote()
    logs = [conversation("<action>left</action>"), conversation("<action>down</action>"), conversation("")]
    metadata = [{"board": ONE_MOVE_LEFT, "moves": 0}, new_game(3, 3, 1), new_game(4, 4, 2)]
    whole, first, second = ray.get(
        [
            actor.step.remote(logs, metadata),
            actor.step.remote(logs[:1], metadata[:1]),
            actor.step.remote(logs[1:], metadata[1:]),
        ]
    )
    assert whole.rewards == first.rewards + second.rewards
    assert whole.metadata == first.metadata + second.metadata
    assert whole.rewards[0] == 1.0
    ray.kill(actor)
