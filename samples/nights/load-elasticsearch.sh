#!/bin/sh
# Loads the parts of `repute enrich … -o DIR/ --to es-bulk` into Elasticsearch or OpenSearch.
# usage: load-elasticsearch.sh DIR https://HOST:9200/INDEX/_bulk
# The key is in $ES_API_KEY. Loading again adds nothing: each document has an _id of its own. With
# --es-action create, the documents that are there already are conflicts (409), which is what they should be.
set -eu
folder=$1 address=$2
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
parts=$(jq -er '.output.parts[].name' "$folder/_manifest.json")
for part in $parts; do
  printf 'Authorization: ApiKey %s\n' "$ES_API_KEY" |
    curl -sS --fail-with-body --retry 5 --retry-all-errors -H @- \
      -H 'Content-Type: application/x-ndjson' --data-binary "@$folder/$part" -o "$answer" "$address" ||
    { echo "$part was not loaded: $(cat "$answer")" >&2; exit 1; }
  # A request is answered with 200 even if some of its documents were refused.
  jq -e '.errors == false or (.items | length > 0 and all(.[][]; .error == null or .status == 409))' "$answer" >/dev/null || {
    echo "$part has refused documents: $(jq -c '[.items[]?[] | select(.error and .status != 409)] | .[:5]' "$answer")" >&2
    exit 1
  }
done
