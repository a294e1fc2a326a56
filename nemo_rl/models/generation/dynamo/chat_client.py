"""A client of the OpenAI-compatible HTTP interface that a Dynamo frontend offers."""

import concurrent.futures
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from nemo_rl.environments.interfaces import MessageLog
from nemo_rl.models.interfaces import GenerationReturn, SamplingParameters


class ServerError(RuntimeError):
    """The server could not be reached, refused a request, or answered something unreadable."""


# Roles of other parties than these are the user's in the chat interface.
CHAT_ROLES = ("system", "user", "assistant")


class ChatClient:
    """Sends the conversations of a batch, some at a time."""

    def __init__(self, base_url: str, model: str, *, time_limit: float, concurrency: int) -> None:
        """Args: address without a path, name of the served model, seconds for a request, requests at the same time."""
        self._base_url = base_url.rstrip("/")
        self._model = model
        self._time_limit = time_limit
        self._concurrency = concurrency

    def is_healthy(self, path: str, time_limit: float) -> bool:
        """Whether a GET of ``path`` is answered with a status of 200 to 299 within the limit."""
        try:
            with urllib.request.urlopen(self._base_url + path, timeout=time_limit) as response:
                return 200 <= int(response.status) < 300
        except (OSError, http.client.HTTPException):
            return False

    def complete(
        self, message_log_batch: Sequence[MessageLog], sampling: SamplingParameters, weight_version: int
    ) -> GenerationReturn:
        """Write the next message of each conversation.

        Returns:
            ``[B]``; without token ids, which the interface does not tell, and without log-probabilities where the
            server gives none.

        Raises:
            ServerError: for the first conversation that failed.
        """
        with concurrent.futures.ThreadPoolExecutor(self._concurrency) as threads:
            choices = list(threads.map(lambda log: self._complete_one(log, sampling), message_log_batch))
        return GenerationReturn(
            texts=[choice["message"]["content"] or "" for choice in choices],
            token_ids=[[] for _ in choices],
            log_probabilities=[_log_probabilities(choice) for choice in choices],
            finish_reasons=["length" if choice.get("finish_reason") == "length" else "stop" for choice in choices],
            weight_version=weight_version,
        )

    def _complete_one(self, message_log: MessageLog, sampling: SamplingParameters) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": message["role"] if message["role"] in CHAT_ROLES else "user", "content": message["content"]}
                for message in message_log
            ],
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "logprobs": True,
        }
        if sampling.top_k is not None:
            request["top_k"] = sampling.top_k
        if sampling.stop_strings:
            request["stop"] = list(sampling.stop_strings)
        if sampling.seed is not None:
            request["seed"] = sampling.seed
        answer = self._post("/v1/chat/completions", request)
        try:
            choice: dict[str, Any] = answer["choices"][0]
            choice["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ServerError(f"the server's answer has no message: {json.dumps(answer)[:500]}") from error
        return choice

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self._base_url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=self._time_limit) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read(2000).decode(errors="replace")
            raise ServerError(f"the server refused {path} with status {error.code}: {text}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServerError(f"the server at {self._base_url} gave no answer to {path}: {error}") from error


def _log_probabilities(choice: dict[str, Any]) -> list[float]:
    tokens = (choice.get("logprobs") or {}).get("content") or []
    return [float(token["logprob"]) for token in tokens]
