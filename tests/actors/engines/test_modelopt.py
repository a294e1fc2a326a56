"""ModelOpt's quantizers in a real, small model on a CPU. Runs where the extra ``modelopt`` is installed."""

import importlib.util
from typing import Any

import pytest

from nemo_rl.modelopt.models.generation.vllm_quant_worker import VllmQuantConfig, calibrate, quantize
from nemo_rl.modelopt.models.policy.workers.megatron_quant_policy_worker import quantize_chunks

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "modelopt")),
    reason="the extra modelopt is not installed in this environment",
)

CONFIGURATION = "INT8_WEIGHT_ONLY_CFG"
DEFAULT = VllmQuantConfig("m").quantization


def layers() -> Any:
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


@pytest.mark.parametrize("configuration", [CONFIGURATION, DEFAULT])
def test_quantizers_change_what_a_model_computes_and_keep_its_weights(configuration: str) -> None:
    import torch

    model, inputs = layers(), torch.randn(3, 8)
    exact, weight = model(inputs), model[0].weight.detach().clone()
    quantize(configuration, model)
    rounded = model(inputs)
    assert not torch.equal(rounded, exact)
    assert torch.allclose(rounded, exact, atol=0.1)
    assert torch.equal(model[0].weight, weight)


def test_gradients_pass_through() -> None:
    import torch

    (model,) = quantize_chunks(CONFIGURATION, [layers()])
    model(torch.randn(3, 8)).sum().backward()
    assert float(model[0].weight.grad.abs().sum()) > 0


def test_new_weights_need_a_new_calibration() -> None:
    import torch

    model, inputs = layers(), torch.randn(3, 8)
    quantize(CONFIGURATION, model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)
    exact = layers()
    exact.load_state_dict({name: value for name, value in model.state_dict().items() if "quantizer" not in name})
    error_before = float((model(inputs) - exact(inputs)).detach().abs().max())
    calibrate(model)
    error_after = float((model(inputs) - exact(inputs)).detach().abs().max())
    assert error_after < error_before / 10


@pytest.mark.parametrize(
    "put_in", [lambda: quantize("NO_SUCH_CFG", layers()), lambda: quantize_chunks("NO", [layers()])]
)
def test_a_configuration_that_modelopt_lacks_is_named(put_in: Any) -> None:
    with pytest.raises(ValueError, match=r"modelopt.torch.quantization has no configuration 'NO"):
        put_in()
