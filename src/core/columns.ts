import { isTimestamp } from "./clock.js";
import { type LookupEndpoint, lookupEndpoints, memberOf } from "./finding.js";
import { verdictOf, decisiveColumns } from "./verdict.js";
import { type Column, columnOf } from "./column.js";
import type { MemberColumn } from "./endpoints/endpoint.js";
import { endpoints } from "./endpoints/endpoints.js";
import type { EnrichedRow } from "./row.js";
import { UsageError } from "./errors.js";
import { counted } from "./wording/quantity.js";

const { text, time, count, list } = columnOf;

/** The added columns, in output order. The header never depends on the data. */
export const columns: readonly Column[] = [
  text("item", "The normalised item, as sent to the service", ({ item }) => item?.value),
  text("kind", "ip, domain, url, sha1, crypto_wallet or email", ({ item }) => item?.kind),
  text("status", "complete, partial, invalid, unsupported or failed", (e) => e.finding.status),
  text("verdict", "malicious, suspicious, listed or none (nothing known); empty if unknown", (e) =>
    verdictOf(e.finding),
  ),
  list("missing", "Members that were null in a partial answer", (e) => e.finding.missing),
  ...lookupEndpoints.flatMap(columnsOfEndpoint),
  text(
    "source",
    "live, cache, duplicate or local (not sent); sample or invented from the embedded service; empty if there is no item",
    (e) => (e.item === null ? null : e.finding.source),
  ),
  count("http_status", "HTTP status of the deciding answer", (e) => e.finding.httpStatus),
  count("attempts", "Requests sent for this answer", (e) => e.finding.attempts),
  time("looked_up_at", "When the answer arrived", (e) => e.finding.lookedUpAt),
  text("error_code", "Stable error code (docs/errors.md)", (e) => e.finding.error?.code),
  text("error", "Error message", (e) => e.finding.error?.message),
  text("extra", "Surplus cells or members of the input row, as JSON", (e) => e.row.extra),
];

const times = columns.filter(({ type }) => type === "timestamp");

export function hasOtherTime(enriched: EnrichedRow): boolean {
  return times.some(({ value }) => {
    const found = value(enriched);
    return typeof found === "string" && !isTimestamp(found);
  });
}

export interface OptionalColumns {
  /** The file of each row: with several inputs. */
  readonly file?: boolean;
  /** The item column of each row: with several. */
  readonly column?: boolean;
  /** The results as received: with `--raw`. */
  readonly raw?: boolean;
  /** Names of the only ones of `columns`, in their order: with `--columns`. @default all */
  readonly only?: readonly string[] | undefined;
}

type OptionalKind = Exclude<keyof OptionalColumns, "only">;

const optionalColumns: Readonly<Record<OptionalKind, readonly Column[]>> = {
  file: [text("file", "With several inputs: the file of the row, as named", ({ row }) => row.file)],
  column: [
    text("column", "With several item columns: the one of the row", ({ row }) => row.column),
  ],
  raw: lookupEndpoints.map(raw),
};

export function addedColumns({ only, ...optional }: OptionalColumns): readonly Column[] {
  const own = optionalKinds.filter((kind) => optional[kind] === true);
  if (own.length === 0 && only === undefined) return columns;
  const chosen = only?.map((name) => columns.find((column) => column.name === name)!) ?? columns;
  return [...chosen, ...own.flatMap((kind) => optionalColumns[kind])];
}

export function optionalColumnsIn(names: readonly string[], prefix: string): OptionalColumns {
  const has = (kind: OptionalKind): boolean =>
    optionalColumns[kind].every(({ name }) => names.includes(prefix + name));
  const optional = Object.fromEntries(optionalKinds.map((kind) => [kind, has(kind)]));
  const known = new Set(columns.map(({ name }) => prefix + name));
  const found = names.filter((name) => known.has(name)).map((name) => name.slice(prefix.length));
  const isAll = columns.every(({ name }, index) => found[index] === name);
  return isAll ? optional : { ...optional, only: found };
}

export function lackedColumns(
  needed: readonly string[],
  { only }: OptionalColumns,
): readonly string[] {
  return only === undefined ? [] : needed.filter((name) => !only.includes(name));
}

const optionalKinds = Object.keys(optionalColumns) as readonly OptionalKind[];

/** Version of the column table. Any change to a column needs a new version. */
export const schemaVersion = 4;

function raw(endpoint: LookupEndpoint): Column {
  const { title } = endpoints[endpoint];
  const description = `With --raw: the result of the ${title} as received, as JSON`;
  return text(memberOf(endpoint), description, ({ finding }) => {
    const answer = finding.answers[endpoint];
    return answer === undefined ? null : (answer.text ?? JSON.stringify(answer.result));
  });
}

function columnsOfEndpoint(endpoint: LookupEndpoint): readonly Column[] {
  const shown: readonly MemberColumn[] = endpoints[endpoint].columns;
  return shown.map(({ type, name, description, ...member }) =>
    columnOf[type](name, description, { endpoint, ...member }),
  );
}

export const reportedColumns = ["item", "kind", "status", "verdict"] as const;

export const retriedColumns: readonly string[] = [
  ...reportedColumns,
  "missing",
  ...new Set([
    ...lookupEndpoints.flatMap((endpoint) => endpoints[endpoint].shownBy),
    ...Object.values(decisiveColumns).flat(),
  ]),
  "source",
  "error_code",
  "error",
];

/**
 * @param what lacks them
 * @param hint what to do. @default for an earlier output
 * @throws UsageError `columns_missing` if columns that a command or flag needs are not there
 */
export function mustHaveColumns(
  what: string,
  needed: readonly string[],
  has: OptionalColumns,
  hint = "run enrich again with these among --columns, or without --columns; if they were removed or renamed since, take the file as it was written",
): void {
  const lacking = lackedColumns(needed, has);
  if (lacking.length === 0) return;
  const many = `${counted(lacking.length, "column")} that this needs`;
  const message = `${what} lacks ${many}: ${lacking.join(", ")}`;
  throw new UsageError("columns_missing", message, { hint });
}
