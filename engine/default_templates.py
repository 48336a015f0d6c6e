"""Chat templates for model files that carry none: each family's own, told by its vocabulary.

The control tokens of a vocabulary say which conversation the family was trained on. The templates
are ours; what they write is what the families' documentation shows.
"""

from collections.abc import Mapping
from typing import Any

CHATML = """{% for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

# Gemma knows two roles: instructions go before the first words of the user, results of tools are
# words of the user.
GEMMA = """{{ bos_token }}{% set start = namespace(system='') %}{% for message in messages -%}
{% if message.role == 'system' %}{% set start.system = message.content.strip() ~ '\n\n' %}
{%- else -%}
<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}
{{ start.system }}{% set start.system = '' %}
{%- if message.role == 'tool' %}```tool_output
{{ message.content.strip() }}
```
{%- else %}{{ message.content.strip() }}{% endif %}<end_of_turn>
{% endif %}{% endfor %}{% if add_generation_prompt %}<start_of_turn>model
{% endif %}"""

LLAMA_3 = """{{ bos_token }}{% for message in messages -%}
<|start_header_id|>{{ 'ipython' if message.role == 'tool' else message.role }}<|end_header_id|>

{{ message.content.strip() }}<|eot_id|>{% endfor %}{% if add_generation_prompt -%}
<|start_header_id|>assistant<|end_header_id|>

{% endif %}"""

PHI_3 = """{% for message in messages -%}
<|{{ message.role }}|>
{{ message.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}"""

GRANITE = """{% for message in messages -%}
<|start_of_role|>{{ message.role }}<|end_of_role|>{{ message.content }}<|end_of_text|>
{% endfor %}{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"""

_SIGNS = (
    (("<start_of_turn>", "<end_of_turn>"), GEMMA),
    (("<|im_start|>", "<|im_end|>"), CHATML),
    (("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"), LLAMA_3),
    (("<|start_of_role|>", "<|end_of_role|>"), GRANITE),
    (("<|user|>", "<|assistant|>", "<|end|>"), PHI_3),
)
"""Tokens that a vocabulary must have, the first that fits → the template."""


def default_template(metadata: Mapping[str, Any]) -> str | None:
    """The template of a model that brings none, None if its vocabulary tells nothing."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list):
        return None
    known = {sign for signs, _ in _SIGNS for sign in signs}.intersection(tokens)
    return next((source for signs, source in _SIGNS if known.issuperset(signs)), None)
