import pytest
import ray

from nemo_rl.environments.code_jaccard_environment import (
    CodeJaccardEnvironment,
    CodeJaccardEnvironmentImpl,
    code_tokens,
    jaccard_similarity,
)


@pytest.mark.parametrize(
    ("response", "reference", "reward"),
    [
        ("<code>x = 1</code>", "x = 1", 1.0),
        ("<code>x=1 # why</code>", "x  =  1", 1.0),
        ("```python\nx = 2\n```", "x = 1", 0.5),
        ("<code>a b c d</code>", "a b", 0.5),
        ("<code>a a a</code>", "a", 1.0),
        ("<code>p</code>", "q", 0.0),
        ("<code># only a comment</code>", "q", 0.0),
        ("<code></code>", "q", 0.0),
        ("no code", "q", 0.0),
        ("<code>" + "q " * 500_000 + "</code>", "q", 0.0),
        ("<code>" + "{" * 1000 + "}" * 1000 + "</code>", "{ }", 1.0),
    ],
)
def test_reward_is_the_similarity_of_token_sets(conversation, response, reference, reward):
    result = CodeJaccardEnvironmentImpl().step([conversation(response)], [{"ground_truth": reference}])
    assert result.rewards == [reward]
    assert result.terminateds == [True]


def test_tokens_are_words_numbers_and_single_characters():
    assert code_tokens("foo_1+=2.5 # c") == {"foo_1", "+", "=", "2.5"}
    assert code_tokens("a # c", ignore_comments=False) == {"a", "#", "c"}


def test_similarity_of_two_empty_sets_is_zero():
    assert jaccard_similarity(frozenset(), frozenset()) == 0.0


def test_a_configuration_may_count_comments(conversation):
    environment = CodeJaccardEnvironmentImpl({"ignore_comments": False})
    assert environment.step([conversation("<code>a # b</code>")], [{"ground_truth": "a"}]).rewards == [1 / 3]


def test_a_reference_without_tokens_is_an_error_that_names_the_conversation(conversation):
    with pytest.raises(ValueError, match="conversation 1 has no token"):
        CodeJaccardEnvironmentImpl().step([conversation("x")] * 2, [{"ground_truth": "x"}, {"ground_truth": "# x"}])


def test_an_empty_batch_and_unequal_lengths_are_errors(conversation):
    with pytest.raises(ValueError, match="batch is empty"):
        CodeJaccardEnvironmentImpl().step([], [])
    with pytest.raises(ValueError, match="1 conversations and 0 metadata"):
        CodeJaccardEnvironmentImpl().step([conversation("x")], [])


@pytest.mark.xdist_group("ray")
def test_through_ray_a_batch_split_in_two_gives_the_same(ray_cluster, conversation):
    actor = CodeJaccardEnvironment.remote()
    logs = [conversation(f"<code>{text}</code>") for text in ("a b", "a", "c")]
    metadata = [{"ground_truth": "a b"}] * 3
    whole, first, second = ray.get(
        [
            actor.step.remote(logs, metadata),
            actor.step.remote(logs[:1], metadata[:1]),
            actor.step.remote(logs[1:], metadata[1:]),
        ]
    )
    assert whole.rewards == first.rewards + second.rewards == [1.0, 0.5, 0.0]
    ray.kill(actor)
