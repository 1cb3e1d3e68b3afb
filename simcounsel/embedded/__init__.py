"""The embedded model: real inference on a bare machine, and much help for a model this small.

SmolLM2-135M (llama.cpp) writes; all-MiniLM-L6-v2 (onnxruntime) measures nearness. Whatever can be
*chosen* is chosen: lines of talk out of hand-written ones, activities out of routines, feelings by
nearest labelled sentences. Insights and summaries are generated, several tried, the best grounded
one kept. The log says of each line whether it was chosen or generated. It is for trying the
software; findings need a capable model.

`embedded+adapter=PATH` (`adapter`, `tuned`): a second SmolLM2 with a LoRA adapter speaks for the
counselors wherever its line is fit.
"""

from simcounsel.embedded.provider import Embedded

__all__ = ["Embedded"]
