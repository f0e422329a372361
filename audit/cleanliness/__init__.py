"""Whether any credential can be read in what is to be served (MEASUREMENT §10).

Independent of what masked it: this room knows the served bytes and, disguised, the known values, and nothing else. Its
parser, its decoders and its idea of a terminal are its own, so that one mistake is not made twice.

    values on stdin (known) -> each file, told by what it holds (check) -> every view of it (views: cast, written,
    escapes, squeeze, decoders; screen in a process beside) -> what is searched in each (known, shapes, keymaterial; the
    scanner of others beside them) -> certificate, or reasons

What is proven: no known value and no twelve characters of one are in any view, no provider-shaped token and no private
key is, and every view was looked at to its end: what breaks off, runs too long (deadline) or moves text on the screen
in a way that is not drawn here withholds. What is not: a picture of a value, an alphabet that is in no view (base85,
numbers in the parameters of colours), or a cipher of the project's own. For these the keys of a run are revoked before
anything is published.
"""
