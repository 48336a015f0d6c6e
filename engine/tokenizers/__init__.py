"""The kinds of vocabulary that GGUF files carry, one file each. They see text and token ids, and
know nothing of templates, models or requests."""
