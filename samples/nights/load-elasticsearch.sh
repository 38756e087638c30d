#!/bin/sh
# Loads the file of `repute enrich … -o FILE --to es-bulk` into Elasticsearch or OpenSearch.
# usage: load-elasticsearch.sh FILE https://HOST:9200/INDEX/_bulk
# The key is in $ES_API_KEY. Loading again adds nothing: each document has an _id of its own. With
# --es-action create, the documents that are there already are conflicts (409), which is what they should be.
set -eu
file=$1 address=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A document is two lines: its action and its fields.
split -l "${LINES_PER_REQUEST:-10000}" -- "$file" "$folder/request-"
for request in "$folder"/request-*; do
  printf 'Authorization: ApiKey %s\n' "$ES_API_KEY" |
    curl -sS --fail-with-body --retry 5 --retry-all-errors -H @- \
      -H 'Content-Type: application/x-ndjson' --data-binary "@$request" -o "$folder/answer" "$address" ||
    { echo "$file was not loaded: $(cat "$folder/answer")" >&2; exit 1; }
  # A request is answered with 200 even if some of its documents were refused.
  jq -e '.errors == false or (.items | length > 0 and all(.[][]; .error == null or .status == 409))' "$folder/answer" >/dev/null || {
    echo "$file has refused documents: $(jq -c '[.items[]?[] | select(.error and .status != 409)] | .[:5]' "$folder/answer")" >&2
    exit 1
  }
done
