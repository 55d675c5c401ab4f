#!/bin/sh
# Appends its prompt's first line to a file and commits it.
read -r line
printf '%s\n' "$line" >>fix.txt
git add -A && git -c user.name=Agent -c user.email=agent@localhost commit --quiet -m "Fix: $line"
