"""How danger is heard: words, grammar, a small classifier, and a model where there is doubt."""
