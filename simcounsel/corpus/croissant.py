"""Croissant metadata of training data: which files there are, what they hold, under which licence
(https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html). The rows of most formats are
conversations, nested lists that Croissant's record sets do not describe well, so that the files are
told and the rows left to `datasets`.
"""

import json

from simcounsel.corpus.card import Card
from simcounsel.corpus.card_text import about

ENCODINGS = {
    "jsonl": "application/jsonlines",
    "parquet": "application/x-parquet",
    "txt": "text/plain",
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
}


def croissant(card: Card, name: str) -> str:
    """The metadata of what a card describes. name: of the data set."""
    licences = sorted(card.licences)
    told = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": about(card),
        "license": licences[0] if len(licences) == 1 else licences,
        "version": card.simcounsel,
        "creator": {"@type": "sc:Organization", "name": "made with simcounsel"},
        "inLanguage": sorted(card.languages),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "contentUrl": file,
                "contentSize": f"{written.bytes} B",
                "encodingFormat": ENCODINGS[file.rpartition(".")[2]],
                "sha256": written.hash,
            }
            for file, written in card.files.items()
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"
