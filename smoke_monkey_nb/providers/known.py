"""The providers we know by name: where they are, which variable holds their key, a cheap model to
begin with.

Order matters where a model is picked for the user: the first provider with a key wins.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProviderSpec:
    """One row of the catalogue.

    ``key_variables`` are tried in order; without any the provider is keyless. ``model`` is the
    default for a picked provider, ``None`` where only the user can know. ``images`` says which
    models take pictures: ``"all"``, ``"none"``, or the parts of names that mark them.
    """

    name: str
    title: str
    base_url: str | None
    key_variables: tuple[str, ...] = ()
    model: str | None = None
    base_url_variable: str | None = None
    images: str | tuple[str, ...] = "all"

    @property
    def keyless(self) -> bool:
        """Whether it runs without a key."""
        return not self.key_variables


_SEEING = (
    "gpt-4o", "gpt-4.1", "gpt-5", "claude", "gemini", "gemma-3", "gemma3", "gemma4", "grok-4",
    "llama-4", "llama4", "llava", "minicpm-v", "mistral-small3", "moondream", "omni", "pixtral",
    "vision", "-vl", "vl:", "2.5vl",
)  # fmt: skip

PROVIDERS: dict[str, ProviderSpec] = {
    spec.name: spec
    for spec in (
        ProviderSpec(
            "openai",
            "OpenAI",
            "https://api.openai.com/v1",
            ("OPENAI_API_KEY",),
            "gpt-5-mini",
            "OPENAI_BASE_URL",
        ),
        ProviderSpec(
            "azure",
            "Azure OpenAI",
            None,
            ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
            None,  # a deployment has the name its owner gave it
            "AZURE_OPENAI_ENDPOINT",
        ),
        ProviderSpec(
            "openrouter",
            "OpenRouter",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY",),
            "openai/gpt-5-mini",
            images=_SEEING,
        ),
        ProviderSpec(
            "gemini",
            "Google Gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            "gemini-2.5-flash",
        ),
        ProviderSpec(
            "groq",
            "Groq",
            "https://api.groq.com/openai/v1",
            ("GROQ_API_KEY",),
            "openai/gpt-oss-20b",
            images=_SEEING,
        ),
        ProviderSpec(
            "mistral",
            "Mistral",
            "https://api.mistral.ai/v1",
            ("MISTRAL_API_KEY",),
            "mistral-small-latest",
            images=("pixtral", "mistral-small", "mistral-medium", "mistral-large"),
        ),
        ProviderSpec(
            "deepseek",
            "DeepSeek",
            "https://api.deepseek.com/v1",
            ("DEEPSEEK_API_KEY",),
            "deepseek-chat",
            images="none",
        ),
        ProviderSpec(
            "together",
            "Together",
            "https://api.together.xyz/v1",
            ("TOGETHER_API_KEY",),
            "openai/gpt-oss-20b",
            images=_SEEING,
        ),
        ProviderSpec(
            "xai",
            "xAI",
            "https://api.x.ai/v1",
            ("XAI_API_KEY",),
            "grok-4-fast-non-reasoning",
            images=_SEEING,
        ),
        ProviderSpec(
            "nvidia",
            "NVIDIA",
            "https://integrate.api.nvidia.com/v1",
            ("NVIDIA_API_KEY",),
            "meta/llama-3.3-70b-instruct",
            images=_SEEING,
        ),
        ProviderSpec("ollama", "Ollama", "http://127.0.0.1:11434/v1", images=_SEEING),
        ProviderSpec("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", images=_SEEING),
        ProviderSpec("vllm", "vLLM", "http://127.0.0.1:8000/v1", images=_SEEING),
        ProviderSpec("local", "the local model", None, images="none"),
        ProviderSpec("demo", "the offline demo", None, images="none"),
    )
}


def takes_images(spec: ProviderSpec | None, model: str) -> bool:
    """Whether pictures may be sent to this model, as far as names tell."""
    name = model.lower()
    if "gpt-3.5" in name or "o1-mini" in name or "o3-mini" in name or "gpt-oss" in name:
        return False
    marks = _SEEING if spec is None else spec.images
    if isinstance(marks, str):
        return marks == "all"
    return any(mark in name for mark in marks)
