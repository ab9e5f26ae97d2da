#!/bin/sh
# Kubernetes for one run: pods are processes of this machine. $KGAUGE is the program, $FAKE_PORT the port of the lead.
# Files get-KIND-NAME.json and get-KIND.json are objects, reviews.json answers about rights, COMMAND.error a failure.
home=$(dirname "$0")
state=$home/state
while [ "${1#--request-timeout}" != "$1" ]; do shift; done
echo "$*" >> "$home/calls"
command=$1
shift
if [ -f "$home/$command.error" ]; then
    cat "$home/$command.error" >&2
    exit 1
fi

# The text of a block scalar.
block() {
    awk -v key="$1:" '$1 == key { on = 1; next } on && /^    / { print substr($0, 5); next } on { exit }' "$state/objects"
}

# The arguments of a component's container, for this machine.
arguments() {
    awk -v name="name: .*-$1\$" '
        /^---/ { doc = ""; in_job = 0; next }
        /^kind: Job/ { in_job = 1 }
        in_job && doc == "" && /^  name:/ { doc = $0 }
        in_job && doc ~ name && $1 == "args:" { on = 1; next }
        on && $1 == "-" { sub(/^ *- */, ""); gsub(/^["\047]|["\047]$/, ""); print; next }
        on { exit }
    ' "$state/objects" | sed -e "s|/etc/kgauge|$state/etc|" -e "s|/results|$state/results|" \
        -e "s|listen=0.0.0.0:7700|listen=127.0.0.1:$FAKE_PORT|" -e "s|^kgauge-.*-lead:7700|127.0.0.1:$FAKE_PORT|"
}

# Starts a pod: its name and its component.
start() {
    # One argument per line, with its blanks and stars.
    IFS='
'
    set -f
    set -- "$1" "$2" $(arguments "$2")
    set +f
    unset IFS
    pod=$1
    shift 2
    (
        "$KGAUGE" "$@" > "$state/$pod.log" 2>&1 &
        echo $! > "$state/$pod.pid"
        wait $!
        echo $? > "$state/$pod.status"
    ) > /dev/null 2>&1 < /dev/null &
}

case $command in
create)
    cat > "$home/created"
    if grep -q SelfSubjectAccessReview "$home/created"; then
        if [ -f "$home/reviews.json" ]; then cat "$home/reviews.json"; fi
        exit 0
    fi
    mkdir -p "$state/etc/secret" "$state/etc/plan" "$state/results"
    cat "$home/created" >> "$state/objects"
    # The lead's Job comes first and waits for its Secret, as its pod does in a real cluster.
    if ! grep -q '^kind: Secret' "$state/objects"; then
        printf 8f14e45f-ceea-467f-a0e6-4d2a10a1f9a5
        exit 0
    fi
    awk '$1 == "token:" { gsub(/["\047]/, "", $2); print $2; exit }' "$state/objects" > "$state/etc/secret/token"
    block client.properties > "$state/etc/secret/client.properties"
    block plan.json > "$state/etc/plan/plan.json"
    start lead lead
    for index in $(seq 0 $((FAKE_AGENTS - 1))); do start "agent-$index" agent; done
    ;;
get)
    for file in "$home/get-$1-$2.json" "$home/get-$1.json"; do
        if [ -f "$file" ]; then exec cat "$file"; fi
    done
    if [ "$1" != pods ]; then
        echo "Error from server (NotFound): $1 \"$2\" not found" >&2
        exit 1
    fi
    comma=
    echo '{"items": ['
    for pid in "$state"/*.pid; do
        pod=$(basename "$pid" .pid)
        status='{"phase": "Running"}'
        if [ -f "$state/$pod.status" ]; then
            code=$(cat "$state/$pod.status")
            phase=Failed
            if [ "$code" = 0 ]; then phase=Succeeded; fi
            status='{"phase": "'$phase'", "containerStatuses": [{"state": {"terminated": {"exitCode": '$code', "reason": "Error"}}}]}'
        fi
        echo "$comma"'{"metadata": {"name": "'"$pod"'", "labels": {"app.kubernetes.io/component": "'"${pod%%-*}"'"}}, "status": '"$status"'}'
        comma=,
    done
    echo ']}'
    ;;
logs)
    exec tail -n +1 -f --pid="$(cat "$state/lead.pid")" "$state/lead.log"
    ;;
exec)
    while [ "$1" != -- ]; do shift; done
    shift 2
    exec "$KGAUGE" "$@" --results "$state/results"
    ;;
delete)
    for pid in "$state"/*.pid; do
        if [ -f "$pid" ]; then kill "$(cat "$pid")" 2> /dev/null; fi
    done
    ;;
esac
exit 0
