#!/bin/sh
# Prints what it was given: variables, arguments, then its prompt.
env | grep '^RATCHET_' | grep -v '^RATCHET_TURN=' | sort
for argument; do printf 'argument %s\n' "$argument"; done
printf 'cwd %s\n' "$(pwd -P)"
cat
