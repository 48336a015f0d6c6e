"""Language alone: words, grammars, likeness and sounds, from an utterance to its readings."""
