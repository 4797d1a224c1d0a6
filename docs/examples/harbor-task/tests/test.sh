#!/bin/bash
# Harbor copies this folder to /tests, runs this script, and reads the reward. If the verifier
# fails, there is no reward, and Harbor records an error of the trial.
set -eu
python3 /tests/verify.py --tests /tests --integrated /app --out /logs/verifier
