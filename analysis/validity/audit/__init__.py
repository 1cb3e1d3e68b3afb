"""`simcounsel study audit`: would a claim hold if the study had been made otherwise?

One thing is changed at a time, then the largest changes together (the levels are those of TRAILS,
arXiv 2605.18890); and what PIMMUR (arXiv 2509.18052) asks of a simulation study is looked at.
"""
