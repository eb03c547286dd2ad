#!/bin/sh
# Loads one library of the corpus in a worker of Toolbay and makes one call.
#
#   toolbay.sh HOME LIBRARY TOOL ARGUMENTS
#
# It ends with 0 where both went well, with 1 where the host has refused or failed one of them, and with more where the host itself ended.
set -u
home=$1 library=$2 tool=$3 arguments=$4

cat >"$home/toolbay.toml" <<'TOML'
[trust]
unsigned = "allow"
[plugins]
isolation = "worker"
[workers]
memory_mb = 2048
[static_audit]
denied_imports = "allow"
[deadlines]
constructors_ms = 2000
root_ms = 2000
create_ms = 2000
tools_ms = 2000
call_ms = 2000
grace_ms = 500
stop_ms = 500
TOML

# Runs the host. It always prints a report or an error in JSON; where there is none, it did not come to its end.
host() {
    report=$(toolbay --home "$home" "$@" --json)
    code=$?
    [ "$code" -lt 128 ] || exit "$code"
    [ -n "$report" ] || exit 255
    [ "$code" -eq 0 ]
}

well=0
host install "$library" && host call "$tool" "$arguments" || well=1
host list || exit 255
echo "the host is there"
exit "$well"
