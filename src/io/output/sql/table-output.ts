import type { CopiedTable, CopyOptions, CopyTarget, TableInput } from "../../input/table-input.js";
import type { Connect, Selection } from "./table-database.js";
import { UsageError } from "../../../core/errors.js";
import type { NameParts } from "../../../core/files/output-names.js";
import type { KindOutput, ParseKind } from "../output.js";
import { type Dialect, type TableName, tableText } from "./dialect.js";

/** The address of a table, or of a database of which a query selects rows. */
export interface TableAddress {
  /** The database for messages, without a password. */
  readonly place: string;
  /** How the address of a database is written, for advice. */
  readonly form: string;
  readonly table: TableName;
  /** The file of the database; null for a server. */
  readonly database: string | null;
  readonly parts: NameParts;
  /** As in `Output`. */
  readonly base: (stateDir?: string) => string;
  /** Connects to the database. @param name of the table or query in messages */
  connect(name: string): Connect;
  /** Copies a selection, as `TableInput.copy`. @param name of it in messages */
  copy(
    name: string,
    selection: Selection,
    to: CopyTarget | null,
    options: CopyOptions,
  ): Promise<CopiedTable>;
}

export interface DatabaseKind {
  readonly dialect: Dialect;
  /** Parses the address of a table; null for anything else. @throws UsageError */
  readonly parse: (name: string) => TableAddress | null;
}

/** The outputs of a database. */
export function tableOutput({ dialect, parse }: DatabaseKind): ParseKind {
  return (name): KindOutput | null => {
    const address = parse(name);
    if (address === null) return null;
    const { place, table, database, parts, base } = address;
    const shown = `${place}?table=${tableText(table)}`;
    if (!namesTable(name)) {
      throw new UsageError("bad_output", `${place} names a database without a table`, {
        hint: `add a table, in quotes: '${shown}'`,
      });
    }
    const connect = address.connect(shown);
    const target = { dialect, name: shown, table, database };
    return {
      name: shown,
      format: dialect.name,
      rules: dialect.rules,
      file: null,
      database,
      parts,
      base,
      publisher: async (options) =>
        (await import("./publish.js")).tablePublisher(connect, target, options),
      async records(rows) {
        const { readRun } = await import("./read.js");
        return readRun(connect, target, rows, (query) => tableInput(dialect, address, { query }));
      },
    };
  };
}

/** A selection from a database. */
export function tableInput(
  { name: kind }: Dialect,
  address: TableAddress,
  selection: Selection,
): TableInput {
  const { place, database: file } = address;
  const selected =
    "table" in selection
      ? `table=${tableText(selection.table)}`
      : `query=${selection.query.replaceAll(/\s+/g, " ")}`;
  const name = `${place}?${selected}`;
  return {
    kind,
    name,
    file,
    isTable: true,
    copy: (to, options) => address.copy(name, selection, to, options),
  };
}

export function namesTable(address: string): boolean {
  return /[?&]table=/i.test(address);
}

interface ParameterRules {
  readonly known: readonly string[];
  /** Name of the address for messages, without a password. */
  readonly name: string;
  readonly hint: string;
}

/** @throws UsageError `bad_output` for parameters that are unknown or repeated */
export function checkParameters(
  parameters: URLSearchParams,
  { known, name: address, hint }: ParameterRules,
): void {
  const names = [...parameters.keys()];
  const wrong = names.find((name, at) => !known.includes(name) || names.indexOf(name) < at);
  if (wrong === undefined) return;
  // After an unencoded password, the name may be part of it.
  const name = names.some((each) => each.endsWith("password")) ? "" : ` ${JSON.stringify(wrong)}`;
  const what = known.includes(wrong) ? "a repeated" : "an unknown";
  throw new UsageError("bad_output", `${address} has ${what} parameter${name}`, { hint });
}
