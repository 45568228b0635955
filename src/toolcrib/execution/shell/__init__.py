"""What a line of shell would run, and whether it may: convenience and better questions.

It is never the boundary; that is the sandbox. Where there is none, what is not certain is
asked about.
"""
