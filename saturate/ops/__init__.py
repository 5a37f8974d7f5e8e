"""The ops: one frozen dataclass each, all facts of it in named methods."""
