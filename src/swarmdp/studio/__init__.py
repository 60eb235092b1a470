"""The studio: a local page on which swarms are watched, rewards painted and learned.

The only place that imports a web server. `server` lets its owner in and nobody else, `session` is
one tab of a browser, `stage` has the two swarms that it watches.
"""
