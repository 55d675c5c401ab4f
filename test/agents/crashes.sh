#!/bin/sh
echo '{"session_id": "s-1", "usage": {"input_tokens": 7}}' >"$RATCHET_RESULT_FILE"
echo "about to crash" >&2
kill -9 $$
