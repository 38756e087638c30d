import { extname } from "node:path";
import { UsageError } from "../../core/errors.js";

/** A position in a text; both count from 1. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A config file, parsed. */
export interface ConfigDocument {
  readonly format: ConfigFormat;
  readonly value: unknown;
  /** Where the key at the end of `path` is written; null when unknown. */
  placeOf(path: readonly string[]): TextPlace | null;
}

/** Formats of config files. */
const configFormats = ["json", "yaml", "toml"] as const;

export type ConfigFormat = (typeof configFormats)[number];

/**
 * Parses a config file as its extension says. Without a known extension the text decides.
 *
 * @throws UsageError `config_not_json`, `config_not_yaml`, `config_not_toml`
 */
export async function parseConfig(path: string, text: string): Promise<ConfigDocument> {
  const format = formatOf(path) ?? sniff(text);
  return { format, ...(await parsers[format](path, text)) };
}

/** The format that a file's extension names; null for any other extension. */
export function formatOf(path: string): ConfigFormat | null {
  const word = extname(path).slice(1).toLowerCase();
  return configFormats.find((format) => format === word) ?? (word === "yml" ? "yaml" : null);
}

function sniff(text: string): ConfigFormat {
  if (text.trimStart().startsWith("{")) return "json";
  return /^\s*(?:\[[^\]]*\]|[\w."'-]+\s*=)/m.test(text) ? "toml" : "yaml";
}

type Parser = (path: string, text: string) => Promise<Omit<ConfigDocument, "format">>;

const parsers: Readonly<Record<ConfigFormat, Parser>> = {
  async json(path, text) {
    const [{ findNodeAtLocation, parseTree }, { findJsonFault }] = await Promise.all([
      import("jsonc-parser"),
      import("../../webhooks/json-fault.js"),
    ]);
    const fault = findJsonFault(text);
    if (fault !== null) throw notValid("json", path, fault, fault.message);
    const tree = parseTree(text);
    return {
      value: JSON.parse(text) as unknown,
      placeOf(keys) {
        const node = tree && findNodeAtLocation(tree, [...keys])?.parent;
        return node === undefined ? null : placeAt(text, node.offset);
      },
    };
  },

  async yaml(path, text) {
    const { isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
    const lines = new LineCounter();
    const place = (offset: number): TextPlace => {
      const { line, col } = lines.linePos(offset);
      return { line, column: col };
    };
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
    const [fault] = document.errors;
    if (fault) throw notValid("yaml", path, place(fault.pos[0]), fault.message);
    let value: unknown;
    try {
      value = document.toJS();
    } catch (error) {
      throw notValid("yaml", path, null, (error as Error).message);
    }
    return {
      // An empty file sets nothing.
      value: value ?? {},
      placeOf(keys) {
        let node: unknown = document.contents;
        let offset: number | undefined;
        for (const key of keys) {
          const pair = isMap(node)
            ? node.items.find((each) => isScalar(each.key) && String(each.key.value) === key)
            : undefined;
          offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
          node = pair?.value;
        }
        return offset === undefined ? null : place(offset);
      },
    };
  },

  async toml(path, text) {
    const { parse, TomlError } = await import("smol-toml");
    try {
      return { value: parse(text), placeOf: (keys) => placeInToml(text, keys) };
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [message = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
      throw notValid("toml", path, error, message);
    }
  },
};

function notValid(
  format: ConfigFormat,
  path: string,
  place: TextPlace | null,
  message: string,
): UsageError {
  const at = place === null ? path : `${path}:${place.line}:${place.column}`;
  return new UsageError(
    `config_not_${format}`,
    `${at} is not valid ${format.toUpperCase()}: ${message}`,
    { hint: `correct it there; for example:\n${configExamples[format]}` },
  );
}

/** A small config file in each format, indented for a hint. */
export const configExamples: Readonly<Record<ConfigFormat, string>> = {
  json: '    {"intel-url": "https://intel.example/beta", "rate": "50/s"}',
  yaml: "    intel-url: https://intel.example/beta\n    rate: 50/s",
  toml: '    intel-url = "https://intel.example/beta"\n    rate = "50/s"',
};

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** The parser for TOML reports no places, so this looks for `key =` in the right table. */
function placeInToml(text: string, keys: readonly string[]): TextPlace | null {
  const wanted = keys.join("\n");
  let table: readonly string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const [, header, indent = "", key] = /^\s*\[([^\]]+)\]|^(\s*)([\w."'-]+)\s*=/.exec(line) ?? [];
    if (header !== undefined) table = tomlKeys(header);
    const found = [...table, ...(key === undefined ? [] : tomlKeys(key))].join("\n");
    if (found === wanted) return { line: index + 1, column: indent.length + 1 };
  }
  return null;
}

function tomlKeys(text: string): readonly string[] {
  return text.split(".").map((key) => key.trim().replaceAll(/^["']|["']$/g, ""));
}
