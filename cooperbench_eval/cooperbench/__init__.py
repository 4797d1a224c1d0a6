"""The files and formats of the CooperBench benchmark."""
