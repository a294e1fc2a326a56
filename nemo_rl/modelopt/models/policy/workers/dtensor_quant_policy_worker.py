"""Quantization-aware training of a policy that runs on the layers of Hugging Face transformers."""

from typing import ClassVar

import ray

from nemo_rl.modelopt.models.policy.workers.dtensor_quant_policy_worker_v2 import DTensorQuantPolicyWorkerV2Impl


class DTensorQuantPolicyWorkerImpl(DTensorQuantPolicyWorkerV2Impl):
    """As :class:`DTensorQuantPolicyWorkerV2Impl`, with the layers of transformers. The plain class of the actor.

    For models whose own layers in AutoModel ModelOpt has no quantizers for. AutoModel loads and shards it all the same.
    Needs a CUDA device, and was never run here.
    """

    HUGGING_FACE_IMPLEMENTATION: ClassVar[bool] = True


@ray.remote
class DTensorQuantPolicyWorker(DTensorQuantPolicyWorkerImpl):
    """The Ray actor of :class:`DTensorQuantPolicyWorkerImpl`."""
