#!/bin/sh
# Ignores every polite signal, with children in its own session, in another one, and detached without its environment.
trap '' INT TERM HUP
sleep 600 &
setsid sleep 600 &
(setsid sh -c 'trap "" INT TERM; sleep 600; sleep 600' &)
env -i /bin/sh -c 'sleep 600; sleep 600' &
echo ready
while :; do sleep 600; done
