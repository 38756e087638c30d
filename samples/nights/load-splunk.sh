#!/bin/sh
# Sends the parts of `repute enrich … -o DIR/ --to splunk-hec` to Splunk's HTTP Event Collector.
# usage: load-splunk.sh DIR https://HOST:8088/services/collector/event
# The token is in $SPLUNK_TOKEN. Splunk keeps every event it receives: checksums of parts that it accepted
# are added to DIR/sent, and those parts are skipped the next time.
set -eu
folder=$1 address=$2
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
parts=$(jq -er '.output.parts[] | .name + "=" + .sha256' "$folder/_manifest.json")
touch "$folder/sent"
for each in $parts; do
  part=${each%=*} sha256=${each##*=}
  if grep -qxF "$sha256" "$folder/sent"; then continue; fi
  printf 'Authorization: Splunk %s\n' "$SPLUNK_TOKEN" |
    curl -sS --fail-with-body -H @- --data-binary "@$folder/$part" -o "$answer" "$address" ||
    { echo "$part was not sent: $(cat "$answer")" >&2; exit 1; }
  jq -e '.code == 0' "$answer" >/dev/null || { echo "$part was refused: $(cat "$answer")" >&2; exit 1; }
  echo "$sha256" >>"$folder/sent"
done
