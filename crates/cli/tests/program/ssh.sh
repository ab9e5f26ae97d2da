#!/bin/sh
# ssh to this machine: with `-R FROM:HOST:TO`, the command reaches TO where it names FROM.
from=- to=-
while [ $# -gt 2 ]; do
    [ "$1" != -R ] || { from=${2%%:*} to=${2##*:}; }
    shift
done
echo "$1" >> "$HOME/hosts"
exec sh -c "$(printf '%s' "$2" | sed "s/127\.0\.0\.1:$from /127.0.0.1:$to /")"
