"""From transcripts and situations to training data that can be trusted.

    dialogues   what a corpus holds            reading     from runs, syntheses, samples and other people's files
    screens/    what may be wrong with it      redaction   who it could identify
    formats     what trainers read             export      runs to training data, with a card
    split       by client, never by turn       synthesis/  six roles that write a new corpus
    quality     five dimensions by a judge     measures    counted from the words
"""
