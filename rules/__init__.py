"""What is true: the catalogue of laws. Imported as `saturate.rules`, never as `rules`."""

if __name__ != "saturate.rules":
    raise ImportError("import this package as saturate.rules: under another name a second catalogue would be built")
