#!/bin/bash
# Harbor copies this folder to /tests, runs this script, and reads the reward. It has none if
# the verifier fails, which Harbor records as an error of the trial.
set -eu
python3 /tests/verify.py --tests /tests --integrated /app --out /logs/verifier
