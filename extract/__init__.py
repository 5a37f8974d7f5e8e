"""What is cheap: extractors, cost models and reports. Imported as `saturate.extract`, never as `extract`."""

if __name__ != "saturate.extract":
    raise ImportError("import this package as saturate.extract: under another name a second registry would be built")
