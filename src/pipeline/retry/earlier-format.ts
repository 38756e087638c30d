import { parse } from "csv-parse/sync";
import type { Options } from "csv-parse/sync";
import { columns, schemaVersion } from "../../core/columns.js";
import type { EncoderOptions } from "../../outputs/types.js";
import { memberTexts } from "../../core/json-members.js";
import type { EarlierFacts } from "./earlier-record.js";

/** A record of an earlier output, taken apart. */
interface ReadRecord {
  readonly facts: EarlierFacts;
  /** Cells of the input's columns (tables). */
  readonly cells: readonly string[];
  /** The input's members as an object's text (NDJSON), or null. */
  readonly json: string | null;
  /** What the columns had no place for, as JSON text, or null. */
  readonly extra: string | null;
}

/** How the records of an earlier output are read. */
export interface EarlierFormat {
  readonly inputColumns: readonly string[];
  readonly shape: EncoderOptions["shape"];
  /** 1 where the rows have no verdict. */
  readonly schemaVersion: number;
  /** @returns null for what is no record of ours */
  readonly read: (texts: readonly string[]) => readonly (ReadRecord | null)[];
}

/** A table whose last columns are ours; null when they are not. */
export function tableFormat(
  header: string,
  delimiter: "," | "\t",
  prefix: string,
): EarlierFormat | null {
  const options = { delimiter, relax_column_count: true };
  const names = namesIn(header, options);
  const current = columns.map(({ name }) => name);
  const first = current.filter((name) => name !== "verdict");
  const added = [current, first].find((known) => endsWith(names, known, prefix));
  if (added === undefined) return null;
  const width = names.length - added.length;
  const places = new Map(added.map((name, index) => [name, width + index]));
  return {
    inputColumns: names.slice(0, width),
    shape: "flat",
    schemaVersion: added === current ? schemaVersion : 1,
    read(texts) {
      const records: string[][] = parse(texts.join(""), options);
      return records.map((cells) => {
        if (cells.length !== names.length) return null;
        const text = (name: string): string => cells[places.get(name) ?? -1] ?? "";
        const list = (name: string): string[] => (text(name) === "" ? [] : text(name).split("|"));
        const extra = text("extra");
        return {
          facts: factsOf(text, list),
          cells: cells.slice(0, width),
          json: null,
          extra: extra === "" ? null : extra,
        };
      });
    },
  };
}

function endsWith(names: readonly string[], added: readonly string[], prefix: string): boolean {
  const width = names.length - added.length;
  return width >= 0 && added.every((name, index) => names[width + index] === prefix + name);
}

/** The names in a table's header; none when it is no table at all. */
function namesIn(header: string, options: Options): readonly string[] {
  try {
    const [names = []]: string[][] = parse(header, options);
    return names;
  } catch {
    return [];
  }
}

/** NDJSON whose objects end with our members; null when the first does not. */
export function jsonFormat(first: string, prefix: string): EarlierFormat | null {
  const member = prefix.replace(/_$/, "");
  const members = objectMembers(first);
  if (members === null) return null;
  const nested = members.has(member);
  if (!nested && !members.has(`${prefix}status`)) return null;
  const hasVerdict = nested
    ? objectMembers(members.get(member) ?? "")?.has("verdict") === true
    : members.has(`${prefix}verdict`);
  const read = nested
    ? (text: string) => readNested(text, member)
    : (text: string) => readFlat(text, prefix);
  return {
    inputColumns: [],
    shape: nested ? "nested" : "flat",
    schemaVersion: hasVerdict ? schemaVersion : 1,
    read: (texts) => texts.map((text) => read(text)),
  };
}

function readNested(text: string, member: string): ReadRecord | null {
  const members = objectMembers(text);
  const own = members?.get(member);
  if (members === null || own === undefined) return null;
  members.delete(member);
  const rep = JSON.parse(own) as Record<string, unknown>;
  const query = rep["query"] as Record<string, unknown> | null;
  const error = rep["error"] as Record<string, unknown> | null;
  const plain = (value: unknown): string => (typeof value === "string" ? value : "");
  return {
    facts: {
      status: plain(rep["status"]),
      verdict: plain(rep["verdict"]),
      item: plain(rep["item"]),
      kind: plain(rep["kind"]),
      missing: texts(rep["missing"]),
      tags: texts(query?.["tags"]),
      source: plain(rep["source"]),
      errorCode: plain(error?.["code"]),
      error: plain(error?.["message"]),
    },
    cells: [],
    json: objectText(members),
    extra: rep["extra"] === undefined ? null : (memberTexts(own).get("extra") ?? null),
  };
}

function readFlat(text: string, prefix: string): ReadRecord | null {
  const members = objectMembers(text);
  if (members === null) return null;
  const values = new Map<string, unknown>();
  for (const { name } of columns) {
    const value = members.get(prefix + name);
    if (value === undefined) return null;
    values.set(name, JSON.parse(value));
    members.delete(prefix + name);
  }
  const plain = (name: string): string => {
    const value = values.get(name);
    return typeof value === "string" ? value : "";
  };
  const extra = plain("extra");
  return {
    facts: factsOf(plain, (name) => texts(values.get(name))),
    cells: [],
    json: objectText(members),
    extra: extra === "" ? null : extra,
  };
}

function factsOf(text: (name: string) => string, list: (name: string) => string[]): EarlierFacts {
  return {
    status: text("status"),
    verdict: text("verdict"),
    item: text("item"),
    kind: text("kind"),
    missing: list("missing"),
    tags: list("tags"),
    source: text("source"),
    errorCode: text("error_code"),
    error: text("error"),
  };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function objectMembers(text: string): Map<string, string> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? memberTexts(text)
      : null;
  } catch {
    return null;
  }
}

function objectText(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}
