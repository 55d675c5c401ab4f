#!/bin/sh
echo "not interested"
