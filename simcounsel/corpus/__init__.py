"""From transcripts and situations to training data that can be trusted.

dialogues   what a corpus holds            reading     from runs, samples and other people's files
checks/     what may be wrong with it      redaction   who it could identify
formats     what trainers read             export      runs to training data, with a card
split       by client, never by turn       synthesis/  six roles that write a new corpus
sampling    drawn by theme                 measures    lengths, revisions, templates, skills
rating      a judge, in five dimensions    diversity   distinct n-grams, self-BLEU, spread
rated       what judges said, read again   disclosure  how clients open up
"""
