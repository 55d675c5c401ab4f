#!/bin/sh
# Ends on the signal given as its argument, and says so.
trap 'echo "got $1"; exit 3' "$1"
echo ready
while :; do sleep 0.05; done
