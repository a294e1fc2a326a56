"""What every policy worker and every value worker offers."""

import abc

from nemo_rl.models.interfaces import WorkerInterface
from nemo_rl.models.policy.token_batch import PolicyBatch, TokenBatch, TrainStepReturn, ValueBatch


class PolicyInterface(WorkerInterface):
    """A worker that trains a policy. Data-parallel workers get a shard of the batch each and call at the same time."""

    @abc.abstractmethod
    def train_step(self, batch: PolicyBatch) -> TrainStepReturn:
        """Take one optimizer step on the clipped surrogate loss of the batch."""

    @abc.abstractmethod
    def score(self, batch: TokenBatch) -> list[list[float]]:
        """Log probabilities of given tokens.

        Returns:
            ``[B][T_b]`` natural logarithms; 0 at position 0, which nothing predicts.
        """

    @abc.abstractmethod
    def save_weights(self, checkpoint_path: str) -> str:
        """Write the weights in Hugging Face format, all ranks together; the folder appears when it is complete.

        Args:
            checkpoint_path: a folder that does not exist, on a file system that the generation workers see.

        Returns:
            The folder that a generation worker's ``update_weights`` takes.

        Raises:
            FileExistsError: the folder exists.
        """


class ValueInterface(WorkerInterface):
    """A worker that trains a value function. Data-parallel workers get a shard of the batch each."""

    @abc.abstractmethod
    def train_step(self, batch: ValueBatch) -> TrainStepReturn:
        """Take one optimizer step on the clipped squared error of the batch."""

    @abc.abstractmethod
    def score(self, batch: TokenBatch) -> list[list[float]]:
        """Values of given tokens: ``[B][T_b]``."""
