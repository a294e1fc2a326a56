import pytest
import ray

from nemo_rl.environments.tools.retriever import PassageIndex, RAGConfig, RAGEnvironment, RAGEnvironmentImpl

DOCUMENTS = (
    "Bern is the seat of the government of Switzerland.",
    "Paris is the capital of France. Paris lies on the Seine.",
    "France borders Spain.",
    "The mat is where the cat sat.",
    "",
)


@pytest.fixture(scope="module")
def environment():
    return RAGEnvironmentImpl(RAGConfig(DOCUMENTS, passages=2, max_searches=2))


def test_passages_are_ranked_best_first():
    passages = PassageIndex(DOCUMENTS).search("What is the capital of France?", 5)
    assert [passage.document for passage in passages] == [1, 2]
    assert passages[0].score > passages[1].score > 0
    assert passages[0].text == DOCUMENTS[1]


def test_equal_passages_come_in_the_order_of_the_documents():
    assert [passage.document for passage in PassageIndex(("b cat", "a cat", "dog")).search("cat", 9)] == [0, 1]


@pytest.mark.parametrize("query", ["zeppelin", "", "the of is", "?!", "{" * 1000, "x" * 90_000])
def test_a_query_without_a_known_word_finds_nothing(query):
    assert PassageIndex(DOCUMENTS).search(query, 5) == []


@pytest.mark.parametrize("documents", [(), ("",), ("the", "?!")])
def test_documents_without_words_are_an_error(documents):
    with pytest.raises(ValueError, match="documents has a word to search for"):
        PassageIndex(documents)


@pytest.mark.parametrize("response", ["<search>Switzerland</search>", "<search>Seine</search> <search>Switzerland"])
def test_the_last_search_is_answered(environment, conversation, response):
    result = environment.step([conversation(response)], [{"ground_truth": "Bern"}])
    assert result.observations[0]["content"] == f"<result>\n[1] {DOCUMENTS[0]}\n</result>"
    assert (result.rewards, result.terminateds) == ([0.0], [False])
    assert result.metadata == [{"ground_truth": "Bern", "searches": 1}]
    assert result.next_stop_strings == [["</search>"]]


def test_at_most_the_configured_number_of_passages_is_shown(environment, conversation):
    result = environment.step([conversation("<search>France Paris cat Switzerland</search>")], [{}])
    assert result.observations[0]["content"].count("\n[") == 2


@pytest.mark.parametrize("query", ["zeppelin", "", "x" * 1_000_000])
def test_a_search_that_finds_nothing_says_so(environment, conversation, query):
    result = environment.step([conversation(f"<search>{query}</search>")], [{}])
    assert result.observations[0]["content"] == "<result>\nno passage found\n</result>"


@pytest.mark.parametrize(
    ("response", "metadata", "reward", "answer"),
    [
        ("<search>x</search> known: <answer>the  Seine.</answer>", {"ground_truth": "The Seine"}, 1.0, "the  Seine."),
        ("<answer>the Rhine</answer>", {"ground_truth": "The Seine"}, 0.0, "the Rhine"),
        ("<answer>the Seine</answer>", {}, 0.0, "the Seine"),
        ("I do not know", {"ground_truth": "The Seine"}, 0.0, None),
        ("", {"ground_truth": "The Seine"}, 0.0, None),
    ],
)
def test_a_response_without_a_search_ends_the_episode(environment, conversation, response, metadata, reward, answer):
    result = environment.step([conversation(response)], [metadata])
    assert (result.rewards, result.answers, result.terminateds) == ([reward], [answer], [True])


def test_one_search_too_many_ends_the_episode(environment, conversation):
    metadata = [{"ground_truth": "x"}]
    for expected in (False, False, True):
        result = environment.step([conversation("<search>cat</search>")], metadata)
        assert result.terminateds == [expected]
        metadata = result.metadata
    assert "no more than 2 searches" in result.observations[0]["content"]


def test_an_empty_batch_unequal_lengths_and_bad_limits_are_errors(environment, conversation):
    with pytest.raises(ValueError, match="batch is empty"):
        environment.step([], [])
    with pytest.raises(ValueError, match="1 conversations and 0 metadata"):
        environment.step([conversation("x")], [])
    with pytest.raises(ValueError, match="have to be positive, got 0 and 5"):
        RAGConfig(DOCUMENTS, passages=0)


@pytest.mark.xdist_group("ray")
def test_through_ray_a_batch_split_in_two_gives_the_same(ray_cluster, conversation):
    actor = RAGEnvironment.remote(RAGConfig(DOCUMENTS))
    logs = [conversation(f"<search>{text}</search>") for text in ("cat", "France")] + [
        conversation("<answer>1</answer>")
    ]
    metadata = [{"ground_truth": "1"}] * 3
    whole, first, second = ray.get(
        [
            actor.step.remote(logs, metadata),
            actor.step.remote(logs[:1], metadata[:1]),
            actor.step.remote(logs[1:], metadata[1:]),
        ]
    )
    assert whole.observations == first.observations + second.observations
    assert whole.rewards == first.rewards + second.rewards == [0.0, 0.0, 1.0]
    ray.kill(actor)
