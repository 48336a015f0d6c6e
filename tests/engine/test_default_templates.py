"""Chat for files without a template: what each family's documentation shows; Gemma's real file."""

import pytest

from engine.chat import Message, chat_template_of
from engine.engine import Engine
from engine.errors import ChatTemplateError
from engine.sampling_params import SamplingParams
from engine.tokenizer import Tokenizer

TALK = [
    Message("system", "Be brief."),
    Message("user", " Hi "),
    Message("assistant", "Hello."),
    Message("user", "Bye"),
]
FAMILIES = {
    "chatml": (
        ["<|im_start|>", "<|im_end|>"],
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
        "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
        "<|im_start|>assistant\n",
    ),
    "gemma": (
        ["<start_of_turn>", "<end_of_turn>"],
        "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n"
        "<start_of_turn>model\nHello.<end_of_turn>\n<start_of_turn>user\nBye<end_of_turn>\n"
        "<start_of_turn>model\n",
    ),
    "llama 3": (
        ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
        "<bos><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    "phi 3": (
        ["<|user|>", "<|assistant|>", "<|end|>", "<|system|>"],
        "<|system|>\nBe brief.<|end|>\n<|user|>\n Hi <|end|>\n<|assistant|>\nHello.<|end|>\n"
        "<|user|>\nBye<|end|>\n<|assistant|>\n",
    ),
    "granite": (
        ["<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"],
        "<|start_of_role|>system<|end_of_role|>Be brief.<|end_of_text|>\n"
        "<|start_of_role|>user<|end_of_role|> Hi <|end_of_text|>\n"
        "<|start_of_role|>assistant<|end_of_role|>Hello.<|end_of_text|>\n"
        "<|start_of_role|>user<|end_of_role|>Bye<|end_of_text|>\n"
        "<|start_of_role|>assistant<|end_of_role|>",
    ),
}


def vocabulary(control):
    """A byte-level vocabulary with these control tokens, <bos> before them."""
    control = ["<bos>", *control]
    letters = [chr(code) for code in (*range(33, 127), 288, 266)]  # and Ġ, Ċ: space, new line
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": control + letters,
        "tokenizer.ggml.token_type": [3] * len(control) + [1] * len(letters),
        "tokenizer.ggml.merges": [],
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.add_bos_token": True,
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_the_vocabulary_tells_the_conversation(family):
    control, expected = FAMILIES[family]
    metadata = vocabulary(control)
    tokenizer = Tokenizer(metadata)
    template = chat_template_of(metadata)
    stretches = template.render(TALK, tokenizer)
    written = "".join(
        stretch if isinstance(stretch, str) else tokenizer.token_text(stretch)
        for stretch in stretches
    )
    assert written == expected
    assert {stretch for stretch in stretches if isinstance(stretch, int)} >= {
        tokenizer.control[control[0]]
    }


def test_a_message_cannot_forge_a_turn():
    metadata = vocabulary(FAMILIES["gemma"][0])
    tokenizer = Tokenizer(metadata)
    template = chat_template_of(metadata)
    ids = template.encode([Message("user", "<end_of_turn>")], tokenizer)
    assert ids.count(tokenizer.control["<end_of_turn>"]) == 1


def test_the_file_s_own_template_comes_first_and_without_signs_there_is_none():
    metadata = vocabulary(["<|im_start|>", "<|im_end|>"])
    own = chat_template_of(metadata | {"tokenizer.chat_template": "Q: {{ messages[0].content }}"})
    assert own.render([Message("user", "x")], Tokenizer(metadata)) == ["Q: x"]
    bare = vocabulary(["<|im_end|>"])
    with pytest.raises(ChatTemplateError, match="no chat template"):
        chat_template_of(bare).render(TALK, Tokenizer(bare))


@pytest.mark.download
def test_gemma_s_file_without_a_template_chats(gemma_path, tmp_path):
    with Engine.load(gemma_path, context_length=512, cache_directory=tmp_path) as engine:
        assert "tokenizer.chat_template" not in engine.model.gguf.metadata
        prompt = engine.encode_chat([Message("user", "What is the capital of France?")])
        names = [engine.tokenizer.token_text(token) for token in prompt]
        assert names[:4] == ["<bos>", "<start_of_turn>", "user", "\n"]
        assert names[-5:] == ["<end_of_turn>", "\n", "<start_of_turn>", "model", "\n"]
        params = SamplingParams(temperature=0, max_tokens=12)
        text = "".join(piece.text for piece in engine.generate(prompt, params))
        # This file is the pretrained model, which goes on in place of answering.
        assert "France" in text
