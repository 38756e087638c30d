import { didYouMean } from "../../core/text/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { TableName } from "../sql/dialect.js";
import { tableText } from "../sql/dialect.js";

/** Maximum number of tables listed in a message. */
const maxListed = 8;

/**
 * The error for a table that does not exist, with the nearest ones.
 *
 * @param names all tables, with their schema unless it is the default
 */
export function tableNotFound(
  place: string,
  table: TableName,
  names: readonly string[],
): UsageError {
  const wanted = tableText(table);
  const near = didYouMean(wanted, names);
  const bare = (name: string): string => name.slice(name.indexOf(".") + 1).toLowerCase();
  const listed = names
    .toSorted((a, b) => Number(bare(b) === bare(wanted)) - Number(bare(a) === bare(wanted)))
    .slice(0, maxListed);
  const more = names.length > listed.length ? `, and ${names.length - listed.length} more` : "";
  const meant = near === null ? "" : ` (did you mean ${near}?)`;
  return new UsageError("table_not_found", `${place} has no table ${wanted}${meant}`, {
    hint:
      names.length === 0
        ? "the database has no tables that this user can see"
        : `it has: ${listed.join(", ")}${more}`,
  });
}

export function severalStatements(): UsageError {
  return new UsageError("bad_query", "the query of the input has several statements", {
    hint: "give a single SELECT",
  });
}

/**
 * The error for a query that the database refuses.
 *
 * @param position of the fault in the query, in characters from 1; null if unknown
 */
export function queryRefused(
  said: string,
  query: string,
  position: number | null,
  cause: unknown,
): UsageError {
  const characters = Array.from(query);
  const at =
    position === null || position < 1 || position > characters.length + 1
      ? ""
      : `, at character ${position} of the query: ${excerpt(characters, position)}`;
  return new UsageError("bad_query", `the database refuses the query: ${said}${at}`, {
    cause,
    hint: "correct the query of the input; it has to be a single SELECT, which writes nothing",
  });
}

/** The query around a position, which `>>>` marks. */
function excerpt(characters: readonly string[], position: number): string {
  const from = Math.max(0, position - 1 - 30);
  const before = characters.slice(from, position - 1).join("");
  const after = characters.slice(position - 1, position + 29).join("");
  const text = `${from > 0 ? "…" : ""}${before}>>>${after}`;
  return (characters.length > position + 29 ? `${text}…` : text).replaceAll(/\s+/g, " ");
}
