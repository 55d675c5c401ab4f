#!/bin/sh
# Tells that it was started, works for $WORK_SECONDS, and leaves a result made from its prompt.
echo "start $$" >>"$RECORD_FILE"
sleep "${WORK_SECONDS:-0}"
read -r line
echo "{\"session_id\": \"session of $line\"}" >"$RATCHET_RESULT_FILE"
echo "done with $line"
