import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { z } from "zod";
import { UsageError } from "../errors.js";
import { fileFault } from "../files/read-path.js";
import { quoted } from "../wording/printable.js";
import { asciiHostname } from "../item/hostname.js";
import { recogniseItem } from "../item/recognise.js";
import { refang, strip } from "../item/refang.js";
import { ExclusionList } from "./exclusion-list.js";

/**
 * Reads lists of what must not leave. A list has an entry per line and comments from `#` on, or is a
 * warning list of MISP (JSON). A file that is named twice, however it is spelled, is one list. A list
 * without entries is taken for a failed download.
 *
 * @throws UsageError `exclusions_unreadable`, `exclusion_invalid`
 */
export async function readExclusions(paths: readonly string[]): Promise<readonly ExclusionList[]> {
  const lists = new Map(paths.map((path) => [resolve(path), path]));
  return Promise.all([...lists.values()].map(readExclusionList));
}

async function readExclusionList(path: string): Promise<ExclusionList> {
  const bytes = await bytesOf(path).catch((error: unknown) => {
    throw unreadable(path, fileFault(error), error);
  });
  const list = new ExclusionList(path, createHash("sha256").update(bytes).digest("hex"));
  if (!isUtf8(bytes)) throw unreadable(path, "it is not UTF-8 text");
  // Without its byte order mark.
  const text = new TextDecoder().decode(bytes);
  if (text.trimStart().startsWith("{")) addWarningList(list, text);
  else addLines(list, text);
  if (list.entries === 0) throw unreadable(path, "it has no entries; did its download fail?");
  return list;
}

/** @throws Error for what has no end, or is too large to be held in memory */
async function bytesOf(path: string): Promise<Buffer> {
  // Opening a named pipe would wait for its writer.
  const found = await stat(path);
  if (found.isDirectory()) throw new Error("it is a folder");
  if (!found.isFile()) throw new Error("it is not a regular file");
  if (found.size > mostBytes) throw new Error("it is larger than 256 MiB");
  return readFile(path);
}

const mostBytes = 256 * 1024 * 1024;

function unreadable(path: string, fault: string, cause?: unknown): UsageError {
  const message = `cannot read the exclusion list ${path}: ${fault}`;
  const hint = "correct --exclude; nothing was sent";
  return new UsageError("exclusions_unreadable", message, { cause, hint });
}

function addLines(list: ExclusionList, text: string): void {
  for (const [at, line] of text.split("\n").entries()) {
    const entry = strip(line.replace(comment, ""));
    if (entry === "" || addEntry(list, entry)) continue;
    throw invalid(`${list.path}, line ${at + 1}`, entry);
  }
}

/** A `#` within an entry may be the fragment of a URL. */
const comment = /(?:^|\s)#.*$/s;

function invalid(where: string, entry: string): UsageError {
  return new UsageError(
    "exclusion_invalid",
    `${where}: ${quoted(entry, 80)} is not an address, a network such as 192.0.2.0/24, a domain, an @domain or an item`,
    { hint: "correct or remove the entry; # begins a comment" },
  );
}

function addEntry(list: ExclusionList, text: string): boolean {
  const entry = bareEntry(refang(text));
  list.note(text);
  if (list.ranges.add(entry)) return true;
  // With a wrong prefix length, it could pass for a URL.
  if (isIP(entry.slice(0, Math.max(0, entry.indexOf("/")))) !== 0) return false;
  if (entry.startsWith("@")) return addName(list.mailDomains, entry.slice(1));
  if (dotted.test(entry)) {
    const name = entry.replace(below, "");
    list.ranges.addReverse(name.toLowerCase().replace(/\.$/, ""));
    return addName(list.domains, name);
  }
  const { item, reason } = recogniseItem(entry);
  if (item?.kind === "ip") return list.ranges.add(item.value);
  if (item?.kind === "domain") list.domains.add(item.value);
  else if (item !== null) list.addSingle(item.value);
  // It is never sent anyway.
  else if (reason.code === "internal_host") return true;
  else return addName(list.domains, entry);
  if (item.kind === "url" && !scheme.test(entry)) {
    list.addSingle(item.value.replace("http:", "https:"));
  }
  return true;
}

/** What isn't a URL has no fragment and no path: a comment may follow at once, and a slash says nothing. */
function bareEntry(entry: string): string {
  if (scheme.test(entry)) return entry;
  return strip(entry.replace(/#.*$/s, "")).replace(/^([^/]+)\/$/, "$1");
}

const scheme = /^[a-z][\w+.-]*:\/\//i;

/** A name with a dot, perhaps written as "all below": `*.corp.example`, `.corp.example`. */
const dotted = /^(?:\*?\.)?[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+\.?$/u;
const below = /^\*?\./;

function addName(names: Set<string>, text: string): boolean {
  const name = asciiHostname(text);
  if (name === null || !hostLabels.test(name) || notName.test(name)) return false;
  names.add(name);
  return true;
}

const hostLabels = /^(?:[\w-]{1,63}\.)*[\w-]{1,63}$/;

/** What could only be a mistyped address or hash. */
const notName = /(?:^|\.)\d+$|^[\da-f]{32,}$/;

/** A warning list of MISP: https://github.com/MISP/misp-warninglists. */
const warningList = z.object({
  name: z.string(),
  type: z.string(),
  list: z.array(z.string()),
});

const warningTypes: Readonly<Record<string, (list: ExclusionList, entry: string) => boolean>> = {
  cidr: (list, entry) => list.ranges.add(refang(entry)),
  hostname: (list, entry) =>
    list.ranges.add(entry) || addName(list.domains, entry.replace(below, "")),
  string(list, entry) {
    if (!list.ranges.add(entry)) list.addSingle(recogniseItem(entry).item?.value ?? entry);
    return true;
  },
  substring(list, entry) {
    const part = refang(entry);
    for (const text of new Set([part, asciiHostname(part) ?? part])) list.addPart(text);
    return true;
  },
};

function addWarningList(list: ExclusionList, text: string): void {
  const { name, type, list: entries } = parseWarningList(list.path, text);
  const add = warningTypes[type];
  if (add === undefined) {
    const types = Object.keys(warningTypes).join(", ");
    throw unreadable(list.path, `the type of the warning list "${name}" is ${type}, not ${types}`);
  }
  for (const [at, written] of entries.entries()) {
    const entry = written.trim();
    if (entry === "") continue;
    list.note(entry);
    if (!add(list, entry)) throw invalid(`${list.path}, entry ${at + 1} of "${name}"`, entry);
  }
}

function parseWarningList(path: string, text: string): z.infer<typeof warningList> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(path, `it is not JSON: ${(error as Error).message}`, error);
  }
  const { data } = warningList.safeParse(value);
  if (data !== undefined) return data;
  throw unreadable(path, 'it is no warning list of MISP, which has "name", "type" and "list"');
}
