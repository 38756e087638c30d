import type {
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBType,
  DuckDBUnionType,
} from "@duckdb/node-api";
import { decimalType, isDecimal } from "../../formats/column-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";
import {
  type CopiedColumn,
  onOneLine,
  sqlText,
  textColumn,
  timeColumn,
} from "../sql/copy-statement.js";
import type { DuckdbDriver } from "./database.js";

/** The types of a driver, and the SQL that copies their values at any depth. */
export class DuckdbTypes {
  readonly #driver: DuckdbDriver;
  readonly #stored: ReadonlyMap<DuckDBType["typeId"], StoredType>;
  /** Names of the entries in lambdas so far. */
  #entries = 0;

  constructor(driver: DuckdbDriver) {
    this.#driver = driver;
    const { DuckDBTypeId: ids } = driver;
    this.#stored = new Map([
      [ids.BOOLEAN, "boolean"],
      [ids.TINYINT, "integer"],
      [ids.SMALLINT, "integer"],
      [ids.INTEGER, "integer"],
      [ids.BIGINT, "integer"],
      [ids.UTINYINT, "integer"],
      [ids.USMALLINT, "integer"],
      [ids.UINTEGER, "integer"],
      [ids.UBIGINT, "decimal(20,0)"],
      [ids.HUGEINT, "numeric"],
      [ids.UHUGEINT, "numeric"],
      [ids.FLOAT, "float"],
      [ids.DOUBLE, "number"],
      [ids.DATE, "date"],
      [ids.TIMESTAMP, "timestamp_local"],
      [ids.TIMESTAMP_S, "timestamp_local"],
      [ids.TIMESTAMP_MS, "timestamp_local"],
      [ids.TIMESTAMP_NS, "timestamp_ns_local"],
      [ids.TIMESTAMP_TZ, "timestamp"],
      [ids.UUID, "uuid"],
      [ids.VARCHAR, "text"],
      [ids.ENUM, "text"],
    ]);
  }

  inputType(type: DuckDBType): InputType {
    return { type: this.#storedType(type), declared: String(type) };
  }

  #storedType(type: DuckDBType): StoredType | null {
    if (type.typeId === this.#driver.DuckDBTypeId.DECIMAL) {
      return decimalType(type.width, type.scale);
    }
    if (type.alias === "JSON") return "json";
    return this.#stored.get(type.typeId) ?? null;
  }

  column(type: DuckDBType, value: string): CopiedColumn {
    const printed = `${value}::text`;
    const stored = this.#storedType(type) ?? "text";
    if (stored === "json") return same(onOneLine(printed));
    if (["boolean", "integer", "numeric"].includes(stored) || isDecimal(stored)) {
      return same(printed);
    }
    if (stored === "float" || stored === "number") return floatColumn(value);
    if (stored.startsWith("timestamp")) return timeColumn(printed);
    const { DuckDBMapType, DuckDBStructType, DuckDBUnionType } = this.#driver;
    if (this.#isList(type)) return this.#list(type, value);
    if (type instanceof DuckDBStructType) return this.#struct(type, value);
    if (type instanceof DuckDBMapType) return this.#map(type, value);
    if (type instanceof DuckDBUnionType) return this.#union(type, value);
    return textColumn(printed);
  }

  #isList(type: DuckDBType): type is DuckDBListType {
    const { DuckDBArrayType, DuckDBListType } = this.#driver;
    return type instanceof DuckDBListType || type instanceof DuckDBArrayType;
  }

  #json(type: DuckDBType, value: string): string {
    return `coalesce(${this.column(type, value).json}, 'null')`;
  }

  #each(list: string, of: (entry: string) => string): string {
    const entry = `e${++this.#entries}`;
    return `list_transform(${list}, lambda ${entry}: ${of(entry)})`;
  }

  /** As cells, entries are joined with `|` if that keeps them apart. */
  #list({ valueType: type }: DuckDBListType, value: string): CopiedColumn {
    const entries = this.#each(value, (entry) => this.#json(type, entry));
    const json = `'[' || array_to_string(${entries}, ',') || ']'`;
    if (this.#isList(type)) {
      return { text: `CASE WHEN len(${value}) = 0 THEN '' ELSE ${json} END`, json };
    }
    const texts = this.#each(value, (entry) => this.column(type, entry).text);
    const others = `list_filter(${texts}, lambda t: t IS NULL OR contains(t, '|'))`;
    const text = `CASE WHEN len(${others}) = 0 THEN array_to_string(${texts}, '|') ELSE ${json} END`;
    return { text, json };
  }

  #struct({ entryNames, entryTypes }: DuckDBStructType, value: string): CopiedColumn {
    const members = entryTypes.map((type, index) => {
      const member = this.#json(type, `struct_extract_at(${value}, ${index + 1})`);
      return `${sqlText(`${JSON.stringify(entryNames[index])}:`)} || ${member}`;
    });
    return same(
      `CASE WHEN ${value} IS NOT NULL THEN '{' || ${members.join(" || ',' || ")} || '}' END`,
    );
  }

  #map({ keyType, valueType }: DuckDBMapType, value: string): CopiedColumn {
    const members = this.#each(`map_entries(${value})`, (entry) => {
      const { text, json } = this.column(keyType, `${entry}.key`);
      const name = this.#isList(keyType) ? json : text;
      return `to_json(${name})::text || ':' || ${this.#json(valueType, `${entry}.value`)}`;
    });
    return same(`'{' || array_to_string(${members}, ',') || '}'`);
  }

  #union({ memberTags, memberTypes }: DuckDBUnionType, value: string): CopiedColumn {
    const choose = (part: keyof CopiedColumn): string => {
      const cases = memberTypes.map((type, index) => {
        const tag = sqlText(memberTags[index] ?? "");
        return `WHEN ${tag} THEN ${this.column(type, `union_extract(${value}, ${tag})`)[part]}`;
      });
      return `CASE union_tag(${value})::text ${cases.join(" ")} END`;
    };
    return { text: choose("text"), json: choose("json") };
  }
}

function same(text: string): CopiedColumn {
  return { text, json: text };
}

/** A number without `.0`; NaN and the infinities, which JSON lacks, are text. */
function floatColumn(value: string): CopiedColumn {
  const digits = String.raw`regexp_replace(${value}::text, '\.0$', '')`;
  const other = `CASE WHEN isnan(${value}) THEN 'NaN' WHEN ${value} > 0 THEN 'Infinity' ELSE '-Infinity' END`;
  const cases = (otherwise: string): string =>
    `CASE WHEN isfinite(${value}) THEN ${digits} WHEN ${value} IS NOT NULL THEN ${otherwise} END`;
  return { text: cases(other), json: cases(`'"' || ${other} || '"'`) };
}
