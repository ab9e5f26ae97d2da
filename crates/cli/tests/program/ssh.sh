#!/bin/sh
while [ $# -gt 2 ]; do shift; done
echo "$1" >> "$HOME/hosts"
exec sh -c "$2"
