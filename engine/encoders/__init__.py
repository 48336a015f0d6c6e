"""BERT-family encoders: a model's files → sizes, tensors, tokens, and the program that computes."""
