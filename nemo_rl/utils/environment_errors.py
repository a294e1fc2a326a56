"""The error that all ways of not getting an environment have in common."""


class EnvironmentBuildError(RuntimeError):
    """An environment was not built, and nothing is left that could be taken for one. The message says what to do."""
