"""The actors of asynchronous training, under the name that the table of environments knows them by."""

from nemo_rl.algorithms.async_trajectory_collector import AsyncTrajectoryCollector
from nemo_rl.algorithms.replay_buffer import ReplayBuffer

__all__ = ["AsyncTrajectoryCollector", "ReplayBuffer"]
