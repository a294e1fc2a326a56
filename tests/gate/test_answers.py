"""Answers know what they were made from, and what of it a change leaves as it was."""

from __future__ import annotations

import pytest

from pytest_actor_envs.sources.tree import Tree


def counted(tree: Tree, asked: list[str], path: str) -> str:
    def make() -> str:
        asked.append(path)
        return tree.read_text(path) if tree.exists(path) else ""

    return tree.answers.get(("text", path), make)


def test_an_answer_is_made_once_and_again_only_where_its_file_changed() -> None:
    tree, asked = Tree(None, {"a": "1", "b": "2"}), list[str]()
    assert [counted(tree, asked, path) for path in "aabb"] == ["1", "1", "2", "2"]
    assert asked == ["a", "b"]
    changed = tree.with_overlay({"a": "3", "b": "2"})
    assert [counted(changed, asked, path) for path in "ab"] == ["3", "2"]
    assert asked == ["a", "b", "a"]
    again = changed.with_overlay({"b": "4"})
    assert [counted(again, asked, path) for path in "ab"] == ["3", "4"]
    assert asked == ["a", "b", "a", "b"]


def test_a_file_that_comes_to_be_or_goes_changes_what_asked_whether_it_is_there() -> None:
    tree, asked = Tree(None, {"a": "1"}), list[str]()
    assert counted(tree, asked, "new") == ""
    added = tree.with_overlay({"new": "here"})
    assert counted(added, asked, "new") == "here"
    assert counted(added.with_overlay({"new": None}), asked, "new") == ""
    assert asked == ["new"] * 3


def test_what_an_answer_within_an_answer_was_made_from_counts_for_both() -> None:
    tree, asked = Tree(None, {"a": "1", "b": "2"}), list[str]()

    def outer(of: Tree) -> str:
        return of.answers.get("outer", lambda: counted(of, asked, "a") + of.read_text("b"))

    counted(tree, asked, "a")  # known already when the outer one asks
    assert outer(tree) == "12"
    assert outer(tree.with_overlay({"a": "9"})) == "92"


def test_who_asks_for_something_reduced_does_not_depend_on_the_rest() -> None:
    tree, asked = Tree(None, {"a": "one two"}), list[str]()

    def first_word(of: Tree) -> str:
        def make() -> str:
            asked.append("made")
            return of.reduced("first word", "a", lambda content: content.split()[0]).decode()

        return of.answers.get("word", make)

    assert first_word(tree) == "one"
    assert first_word(tree.with_overlay({"a": "one three"})) == "one"
    assert asked == ["made"]
    assert first_word(tree.with_overlay({"a": "two two"})) == "two"
    with pytest.raises(FileNotFoundError):
        first_word(tree.with_overlay({"a": None}))


def test_an_answer_that_comes_out_equal_keeps_what_was_made_from_it() -> None:
    tree, asked = Tree(None, {"a": "3 1 2"}), list[str]()
    tree.answers.project = tree

    def summary(of: Tree) -> str:
        def make() -> str:
            asked.append("made")
            return " ".join(of.answers.settled("sorted", lambda found: sorted(found.read_text("a").split())))

        return of.answers.get("summary", make)

    assert summary(tree) == "1 2 3"
    same = tree.with_overlay({"a": "2 1 3"})
    same.answers.project = same
    assert summary(same) == "1 2 3"
    assert asked == ["made"]
    other = tree.with_overlay({"a": "4 1 3"})
    other.answers.project = other
    assert summary(other) == "1 3 4"


def words(tree: Tree) -> dict[str, str]:
    """The lines `key value` of a file. Raises ValueError where one is no such line."""
    return dict((key, value) for key, value in (line.split() for line in tree.read_text("a").splitlines()))


def changed(tree: Tree, text: str) -> Tree:
    other = tree.with_overlay({"a": text})
    other.answers.project = other
    return other


def test_who_asks_for_a_part_depends_on_that_part_alone() -> None:
    tree, asked = Tree(None, {"a": "x 1\ny 2"}), list[str]()
    tree.answers.project = tree

    def of(tree: Tree, key: str) -> str | None:
        def make() -> str | None:
            asked.append(key)
            return tree.answers.part("words", key, words)

        return tree.answers.get(("word", key), make)

    assert [of(tree, key) for key in "xyz"] == ["1", "2", None]
    assert [of(changed(tree, "y 3\nx 1"), key) for key in "xyz"] == ["1", "3", None]
    assert asked == [*"xyz", "y"]
    assert [of(changed(tree, "x 1\ny 2\nz 3"), key) for key in "xyz"] == ["1", "2", "3"]
    assert asked == [*"xyz", "y", "z"]
    with pytest.raises(ValueError, match="unpack"):
        of(changed(tree, "no such line"), "x")


def test_what_was_not_asked_of_an_overlay_is_compared_by_the_next_one_all_the_same() -> None:
    tree = Tree(None, {"a": "x 1", "b": ""})
    tree.answers.project = tree

    def of(tree: Tree) -> str | None:
        return tree.answers.get("word", lambda: tree.answers.part("words", "x", words))

    assert of(tree) == "1"
    between = tree.with_overlay({"b": "other"})
    between.answers.project = between
    assert of(changed(between, "x 2")) == "2"


def test_an_answer_that_raises_is_not_kept_and_still_counts() -> None:
    tree = Tree(None, {"a": "1"})

    def make(of: Tree) -> int:
        if of.read_text("a") == "1":
            raise ValueError("not yet")
        return 5

    def outer(of: Tree) -> int:
        def guarded() -> int:
            try:
                return of.answers.get("inner", lambda: make(of))
            except ValueError:
                return 0

        return of.answers.get("outer", guarded)

    assert outer(tree) == 0
    assert outer(tree.with_overlay({"a": "2"})) == 5


def test_after_an_answer_that_is_not_known_any_more_the_others_are_still_compared() -> None:
    tree = Tree(None, {"a": "1", "b": "2", "c": "3"})
    tree.answers.project = tree

    def of(tree: Tree, path: str) -> str:
        text: str = tree.answers.settled(path, lambda found: found.read_text(path).strip())
        return text

    def outer(tree: Tree) -> str:
        return tree.answers.get("outer", lambda: of(tree, "c"))

    def over(tree: Tree, files: dict[str, str]) -> Tree:
        other = tree.with_overlay(files)
        other.answers.project = other
        return other

    assert [of(tree, "a"), of(tree, "b"), outer(tree)] == ["1", "2", "3"]
    between = over(tree, {"a": "4"})
    assert outer(between) == "3"
    assert outer(over(between, {"a": "5", "c": "6"})) == "6"
    assert outer(over(between, {"b": "2 ", "c": "7"})) == "7"
    assert outer(over(between, {"b": "8"})) == "3"
