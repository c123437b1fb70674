"""Decides what is known of mlx-lm's model classes, which the load process must never import: plain data.

Each set holds names of modules in mlx_lm/models, read from the release below. `tests/unit/derive_model_classes.py`
reads them again from the installed one, and a test compares.
"""

from collections.abc import Mapping

MLX_LM = "0.32.2"

RENAMED: Mapping[str, str] = {
    "deepseek_v41_text": "deepseek_v41",
    "falcon_mamba": "mamba",
    "gemma4_unified": "gemma4",
    "iquestcoder": "llama",
    "joyai_llm_flash": "deepseek_v3",
    "kimi_k2": "deepseek_v3",
    "llava": "mistral3",
    "minimax_m2": "minimax",
    "mistral": "llama",
    "phi-msft": "phixtral",
    "qwen2_5_vl": "qwen2_vl",
    "xverse": "llama",
}
"""A config.json's `model_type` where it is not the name of the class that loads it."""

RENAMED_BY_ARCHITECTURE: Mapping[tuple[str, str], str] = {
    ("bailing_hybrid", "BailingMoeV3ForCausalLM"): "bailing_moe_v3",
}
"""The same by `model_type` and one of the `architectures`; it goes before `RENAMED`."""

KNOWN: frozenset[str] = frozenset(
    """
    Klear afm7 afmoe apertus baichuan_m1 bailing_hybrid bailing_moe bailing_moe_linear bailing_moe_v3 bitnet
    cohere cohere2 dbrx deepseek deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v41 dots1 ernie4_5 ernie4_5_moe
    exaone exaone4 exaone_moe falcon_h1 gear gemma gemma2 gemma3 gemma3_text gemma3n gemma4 gemma4_text glm glm4
    glm4_moe glm4_moe_lite glm_moe_dsa gpt2 gpt_bigcode gpt_neox gpt_oss gptj granite granitemoe
    granitemoehybrid helium hunyuan hunyuan_v1_dense internlm2 internlm3 iquestloopcoder jamba kimi_k25 kimi_k3
    kimi_linear kimi_vl laguna lfm2 lfm2-vl lfm2_moe lille-130m llama llama4 llama4_text longcat_flash
    longcat_flash_ngram mamba mamba2 mellum mimo mimo_v2_flash minicpm minicpm3 minimax minimax_m3_vl ministral3
    mistral3 mistral4 mixtral muse_glimmer muse_spark nanbeige nanochat nemotron nemotron-nas nemotron_h olmo2
    olmo3 olmo_hybrid olmoe openelm phi phi3 phi3small phimoe phixtral pixtral plamo plamo2 plamo3
    prism_hadamard_qwen35 qwen qwen2 qwen2_moe qwen2_vl qwen3 qwen3_5 qwen3_5_moe qwen3_moe qwen3_next qwen3_vl
    qwen3_vl_moe recurrent_gemma rwkv7 seed_oss smollm3 solar_open spark2_5 stablelm starcoder2 step3p5 talkie
    telechat3 youtu_llm
    """.split()
)
"""All, but olmo, which needs a package of its own."""

PIPELINE: frozenset[str] = frozenset(
    """
    bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v41 glm4_moe glm4_moe_lite glm_moe_dsa kimi_k25
    kimi_k3 minimax_m3_vl ministral3 mistral4 muse_spark prism_hadamard_qwen35 qwen2 qwen3_5 qwen3_5_moe
    qwen3_moe qwen3_next solar_open
    """.split()
)
"""Those that hand whole layers to the ranks: `model.model` has `pipeline`."""

TENSOR: frozenset[str] = frozenset(
    """
    deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v41 exaone_moe glm4_moe glm4_moe_lite glm_moe_dsa gpt_oss
    iquestloopcoder kimi_k25 kimi_k3 llama longcat_flash longcat_flash_ngram minimax minimax_m3_vl ministral3
    mistral4 muse_spark prism_hadamard_qwen35 qwen2 qwen3 qwen3_5 qwen3_5_moe qwen3_moe solar_open step3p5
    """.split()
)
"""Those that split each layer over the ranks: `shard`."""

REPEATS_KV_HEADS: frozenset[str] = frozenset(
    """
    prism_hadamard_qwen35 qwen3_5 qwen3_5_moe
    """.split()
)
"""Of TENSOR: fewer key-value heads than ranks are repeated, each on equally many ranks."""

SPLITS_NO_KV_HEADS: frozenset[str] = frozenset(
    """
    deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v41 glm4_moe_lite glm_moe_dsa kimi_k25 kimi_k3 longcat_flash
    longcat_flash_ngram mistral4
    """.split()
)
"""Of TENSOR: latent attention, whose every rank keeps the whole latent state."""

HYBRID: frozenset[str] = frozenset(
    """
    baichuan_m1 bailing_hybrid bailing_moe_linear bailing_moe_v3 deepseek_v41 falcon_h1 gear granitemoehybrid
    jamba kimi_k3 kimi_linear lfm2 lfm2-vl lfm2_moe longcat_flash_ngram mamba mamba2 nemotron_h olmo_hybrid
    plamo2 prism_hadamard_qwen35 qwen3_5 qwen3_5_moe qwen3_next recurrent_gemma rwkv7
    """.split()
)
"""Some layers keep a state that cannot be cut back to an earlier token."""

WINDOWED: frozenset[str] = frozenset(
    """
    afmoe cohere2 exaone4 exaone_moe gemma3 gemma3_text gemma3n gemma4 gemma4_text gpt_oss iquestloopcoder
    laguna llama mellum mimo_v2_flash ministral3 muse_glimmer muse_spark olmo3 plamo3 spark2_5 step3p5
    """.split()
)
"""Some layers keep a window of tokens, which cannot be cut back once it is full; none is as in HYBRID."""

FULL_BY_DEFAULT: frozenset[str] = frozenset(
    """
    gear laguna llama ministral3
    """.split()
)
"""Of HYBRID and WINDOWED: all layers are full attention where config.json names no layer types."""
