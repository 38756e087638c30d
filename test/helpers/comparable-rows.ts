import { gunzipSync } from "node:zlib";

/** The lines of an output without values that may differ: time and source of each answer. */
export function comparableRows(bytes: Buffer, path: string): readonly string[] {
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replace(/"source":"\w+"|"looked_up_at":"[^"]*"/g, "")
        .replace(/,(?:live|duplicate),(200,\d+),[^,]*,/, ",$1,"),
    );
}
