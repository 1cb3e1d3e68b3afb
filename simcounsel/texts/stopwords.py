"""English words that say little by themselves, in small letters. Measures and checks leave them out
before they compare words, each with the list that it was tested with: another list is another
measure. What the lists share is here once.
"""

SMALL = frozenset(
    "about am an and are as at be been but by did do does for from had has have he her here"
    " him his how if in is it its just me my no not of on or our out she so that the their"
    " them there they this to up us was we were what when who with you your".split()
)
"""Articles, pronouns, prepositions and auxiliaries: in every list."""

GRAMMAR = SMALL | frozenset("a i these those".split())
"""With those that are in nearly every plain English sentence."""

EMPTY = SMALL | frozenset(
    "a after again all also always another any back became because before being both came can"
    " come could doing down each even ever every few get gets go goes going got having hers"
    " herself himself i into itself last like made make many may might more most much must"
    " myself never next now off often once one only other over own said same say says see"
    " should since some something still such take than themselves then these thing things"
    " those through told too took two under until very way where which while whom whose why"
    " will without would yes yet".split()
)
"""With those that are about nothing: what a text tells does not rest on them."""

OF_QUOTES = EMPTY | frozenset(
    "above away between comes done else first give given gives gone later less makes new"
    " nobody none nothing ones others put seen somebody someone takes tell tells time went".split()
)
"""Left out where it is asked what a quotation or a text is about (`quotes.content`)."""

OF_DISCLOSURE = EMPTY | frozenset(
    "don't i'd i'll i'm i've it's keep kept know let little long mine nor ours people quite"
    " rather really seem seems shall sometimes that's theirs think though till together upon"
    " used want wanted well whether won't yours yourself".split()
)
"""Left out where it is counted how much of a client's file has been told (`corpus.disclosure`)."""

OF_FACTS = SMALL | frozenset(
    "after again all also any because before being can can't could don't done even get go got"
    " i'm i've into it's like made make more much one only over really should since some still"
    " than then too two very where which while whom why will would".split()
)
"""Left out where a fact must be in its source."""

OF_PLAIN_ENGLISH = GRAMMAR | frozenset("cant didnt dont im ive thats".split())
"""Of these a line in plain English has a fair share (`llm.answers`); also without apostrophes."""

OF_REFLECTIONS = GRAMMAR | frozenset(
    "can could don't i'm it's like really should than that's then too very will"
    " would you're".split()
)
"""Left out where a counselor's sentence takes up the client's words (`instruments.talk`)."""
