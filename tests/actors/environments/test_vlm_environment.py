import pytest
import ray

from nemo_rl.environments.vlm_environment import VLMEnvironment, VLMEnvironmentImpl, intersection_over_union


def reward(conversation, response, **metadata):
    return VLMEnvironmentImpl().step([conversation(response)], [metadata]).rewards[0]


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ("<answer>A red  Bus</answer>", "a red bus", 1.0),
        ("<answer>no</answer> but <answer>yes</answer>", "yes", 1.0),
        ("<answer>a bus</answer>", "a red bus", 0.0),
        ("a red bus", "a red bus", 0.0),
        ("<answer>a red bus", "a red bus", 0.0),
        ("<answer>" + "x" * 1_000_000 + "</answer>", "x", 0.0),
    ],
)
def test_exact_answers(conversation, answer, truth, expected):
    assert reward(conversation, answer, kind="exact", ground_truth=truth) == expected


@pytest.mark.parametrize(
    ("answer", "truth", "tolerance", "expected"),
    [
        ("100.5", "100", 0.01, 1.0),
        ("102", "100", 0.01, 0.0),
        ("102", "100", 0.05, 1.0),
        ("1,234", "1234", 0.0, 1.0),
        ("50%", "0.5", 0.0, 1.0),
        ("0", "0", 0.01, 1.0),
        ("nan", "1", 0.01, 0.0),
        ("inf", "1", 0.01, 0.0),
        ("about 3", "3", 0.01, 0.0),
        ("9" * 90_000, "3", 0.01, 0.0),
    ],
)
def test_numbers_within_a_relative_tolerance(conversation, answer, truth, tolerance, expected):
    tagged = f"<answer>{answer}</answer>"
    assert reward(conversation, tagged, kind="number", ground_truth=truth, relative_tolerance=tolerance) == expected


def test_the_configuration_gives_the_tolerance_where_the_metadata_do_not(conversation):
    item = {"kind": "number", "ground_truth": "100"}
    log = conversation("<answer>104</answer>")
    assert VLMEnvironmentImpl().step([log], [item]).rewards == [0.0]
    assert VLMEnvironmentImpl({"relative_tolerance": 0.1}).step([log], [item]).rewards == [1.0]


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ("[0, 0, 10, 10]", "[0, 0, 10, 10]", 1.0),
        ("[[0, 0, 10, 10]]", "[0, 0, 10, 10]", 1.0),
        ("[0, 0, 10, 5]", "[0, 0, 10, 10]", 0.5),
        ("[20, 20, 30, 30]", "[0, 0, 10, 10]", 0.0),
        ("[[20, 20, 30, 30], [0, 0, 10, 10]]", "[[0, 0, 10, 10], [20, 20, 30, 30]]", 1.0),
        ("[[0, 0, 10, 10]]", "[[0, 0, 10, 10], [20, 20, 30, 30]]", 0.5),
        ("[[0, 0, 10, 10], [0, 0, 10, 10]]", "[0, 0, 10, 10]", 0.5),
        ("[10, 10, 0, 0]", "[0, 0, 10, 10]", 0.0),
        ("[0, 0, 10]", "[0, 0, 10, 10]", 0.0),
        ("[0, 0, 10, 1e999]", "[0, 0, 10, 10]", 0.0),
        ('["a", 0, 10, 10]', "[0, 0, 10, 10]", 0.0),
        ("[]", "[0, 0, 10, 10]", 0.0),
        ("[[0, 0, 10, 10], 3]", "[0, 0, 10, 10]", 0.0),
        ("somewhere", "[0, 0, 10, 10]", 0.0),
        ("[" * 40_000 + "]" * 40_000, "[0, 0, 10, 10]", 0.0),
        ("[" + "[0, 0, 10, 10]," * 5000 + "[0, 0, 10, 10]]", "[0, 0, 10, 10]", 1 / 5001),
    ],
)
def test_boxes_by_their_overlap(conversation, answer, truth, expected):
    assert reward(conversation, f"<answer>{answer}</answer>", kind="boxes", ground_truth=truth) == expected


def test_intersection_over_union_of_a_shifted_box():
    assert intersection_over_union((0, 0, 2, 2), (1, 1, 3, 3)) == 1 / 7


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"kind": "number", "ground_truth": "many"}, "'many' is no number"),
        ({"kind": "boxes", "ground_truth": "[1]"}, "no JSON list of boxes"),
        ({"kind": "colour", "ground_truth": "red"}, "unknown kind of answer 'colour'; there are 'exact'"),
    ],
)
def test_bad_metadata_are_an_error(conversation, metadata, message):
    with pytest.raises(ValueError, match=message):
        reward(conversation, "<answer>1</answer>", **metadata)


def test_an_empty_batch_and_unequal_lengths_are_errors(conversation):
    with pytest.raises(ValueError, match="batch is empty"):
        VLMEnvironmentImpl().step([], [])
    with pytest.raises(ValueError, match="1 conversations and 0 metadata"):
        VLMEnvironmentImpl().step([conversation("x")], [])


@pytest.mark.xdist_group("ray")
def test_through_ray_a_batch_split_in_two_gives_the_same(ray_cluster, conversation):
    actor = VLMEnvironment.remote()
    logs = [conversation(f"<answer>{text}</answer>") for text in ("bus", "3.001", "[0, 0, 1, 1]")]
    metadata = [
        {"kind": "exact", "ground_truth": "Bus"},
        {"kind": "number", "ground_truth": "3"},
        {"kind": "boxes", "ground_truth": "[0, 0, 1, 2]"},
    ]
    whole, first, second = ray.get(
        [
            actor.step.remote(logs, metadata),
            actor.step.remote(logs[:2], metadata[:2]),
            actor.step.remote(logs[2:], metadata[2:]),
        ]
    )
    assert whole.rewards == first.rewards + second.rewards == [1.0, 1.0, 0.5]
    assert whole.answers == ["bus", "3.001", "[0, 0, 1, 1]"]
    ray.kill(actor)
