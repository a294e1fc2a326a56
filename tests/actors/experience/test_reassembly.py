"""Reassembly: pieces in any order make the rollout, and whatever is missing or contradicts is named."""

import importlib.util
import itertools

import pytest
import ray

from nemo_rl.experience.reassembly import CapturedPiece, ReassemblyError, RolloutReassembler
from nemo_rl.experience.rollout_reassembler_actor import RolloutReassemblerActor, RolloutReassemblerActorImpl


def piece(index: int, total: int | None = 3, rollout_id: str = "r", **changes: object) -> CapturedPiece:
    """Piece 0 saw 1 2 and wrote 10; piece 1 saw that and 3, and wrote 11; and so on."""
    prompt = [1, 2]
    for earlier in range(index):
        prompt += [10 + earlier, 3 + earlier]
    fields = {
        "rollout_id": rollout_id,
        "index": index,
        "total": total,
        "content": f"text {index}",
        "prompt_token_ids": tuple(prompt),
        "generation_token_ids": (10 + index,),
        "generation_log_probabilities": (-0.25 * (index + 1),),
    }
    return CapturedPiece(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_makes_the_same_rollout(order: tuple[int, ...]) -> None:
    subject = RolloutReassembler()
    for index in order:
        subject.add([piece(index)])
    whole = subject.take("r")
    assert whole.contents == ["text 0", "text 1", "text 2"]
    assert whole.token_ids == [1, 2, 10, 3, 11, 4, 12]
    assert whole.loss_mask == [0, 0, 1, 0, 1, 0, 1]
    assert whole.log_probabilities == [0, 0, -0.25, 0, -0.5, 0, -0.75]
    assert subject.waiting() == {}


def test_one_call_equals_two() -> None:
    whole, split = RolloutReassembler(), RolloutReassembler()
    pieces = [piece(0), piece(1), piece(2), piece(0, 1, "s")]
    whole.add(pieces)
    split.add(pieces[:2])
    split.add(pieces[2:])
    assert whole.take_whole() == split.take_whole()


def test_what_is_missing_is_named() -> None:
    subject = RolloutReassembler()
    subject.add([piece(0, total=None), piece(2, total=None), piece(1, total=4, rollout_id="s")])
    assert subject.waiting() == {"r": ["piece 1", "the last piece"], "s": ["piece 0", "piece 2", "piece 3"]}
    with pytest.raises(ReassemblyError, match=r"rollout r lacks piece 1, the last piece; it has \[0, 2\]"):
        subject.take("r")
    with pytest.raises(ReassemblyError, match="no piece of rollout q has come; known are"):
        subject.take("q")
    assert subject.take_whole() == []
    assert subject.drop("s") and not subject.drop("s")


def test_rollouts_do_not_mix_and_whole_ones_leave() -> None:
    subject = RolloutReassembler()
    subject.add([piece(0, 2, "b"), piece(0, 1, "a"), piece(1, 3, "c"), piece(1, 2, "b")])
    assert [whole.rollout_id for whole in subject.take_whole()] == ["a", "b"]
    assert list(subject.waiting()) == ["c"]


def test_a_repeated_piece_is_fine_and_a_different_one_is_not() -> None:
    subject = RolloutReassembler()
    subject.add([piece(0), piece(0)])
    subject.add([piece(0)])
    with pytest.raises(ReassemblyError, match="piece 0 came twice, differently"):
        subject.add([piece(1), piece(0, content="other")])
    assert subject.waiting() == {"r": ["piece 1", "piece 2"]}, "a call that fails takes nothing"


def test_contradictions_are_named() -> None:
    with pytest.raises(ReassemblyError, match="there is no piece 3 of 3"):
        piece(3)
    with pytest.raises(ReassemblyError, match="1 tokens and 2 log probabilities"):
        piece(0, generation_log_probabilities=(0.0, 0.0))
    subject = RolloutReassembler()
    with pytest.raises(ReassemblyError, match=r"disagree on how many there are: \[2, 3\]"):
        subject.add([piece(0, 2), piece(1, 3)])
    with pytest.raises(ReassemblyError, match="piece 2 of only 2"):
        subject.add([piece(2, None), piece(0, 2)])


def test_pieces_that_do_not_go_on_from_each_other_are_caught_and_kept() -> None:
    subject = RolloutReassembler()
    subject.add([piece(0), piece(1, prompt_token_ids=(1, 2, 99, 3)), piece(2)])
    with pytest.raises(ReassemblyError, match="at piece 1 does not go on from piece 0; they differ at token 2 of 3"):
        subject.take("r")
    assert subject.waiting() == {"r": []}


@pytest.mark.skipif(importlib.util.find_spec("nemo_gym") is None, reason="NeMo Gym needs Python 3.12 and its extra")
def test_messages_of_nemo_gym_are_read() -> None:
    message = {"role": "assistant", "content": "text 0", "prompt_token_ids": [1, 2]}
    tokens = {"generation_token_ids": [10], "generation_log_probs": [-0.25]}
    subject = RolloutReassemblerActorImpl()
    with pytest.raises(ValueError, match="generation_token_ids"):
        subject.add_messages("r", 0, 1, [message])
    subject.add_messages("r", 0, 1, [{**message, **tokens}])
    assert subject.take("r").token_ids == [1, 2, 10]


@pytest.mark.xdist_group("ray")
def test_the_actor_does_the_same(ray_cluster: None) -> None:
    actor = RolloutReassemblerActor.options(num_cpus=0).remote()
    ray.get(actor.add.remote([piece(2), piece(0)]))
    with pytest.raises(ReassemblyError, match="lacks piece 1"):
        ray.get(actor.take.remote("r"))
    ray.get(actor.add.remote([piece(1)]))
    local = RolloutReassembler()
    local.add([piece(0), piece(1), piece(2)])
    assert ray.get(actor.take.remote("r")) == local.take("r")
