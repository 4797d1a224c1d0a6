"""Places to run one command: the protocol, and one module for each place."""
