"""The names of the views, apart from them, so that parsing an option loads none."""

KINDS = ("auto", "widget", "basic", "text", "none")
