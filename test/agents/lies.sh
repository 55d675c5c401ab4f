#!/bin/sh
# Says that all is done, does nothing, and ends well.
echo "I fixed everything and committed it. All tests pass."
