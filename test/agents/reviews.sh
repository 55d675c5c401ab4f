#!/bin/sh
# A reviewer that prints its second argument and exits with its first.
cat >/dev/null
printf '%s\n' "$2"
exit "$1"
