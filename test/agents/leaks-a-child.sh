#!/bin/sh
# Ends at once and leaves behind: a child, one without its environment, one in its own session, and a daemon that forked twice.
sleep 600 >/dev/null 2>&1 &
setsid sleep 600 >/dev/null 2>&1 &
(setsid sh -c '(sleep 600 &) ; sleep 600' >/dev/null 2>&1 &)
env -i /bin/sleep 600 >/dev/null 2>&1 &
exit 0
