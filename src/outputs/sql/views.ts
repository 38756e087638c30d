import { changesNeeds, createChangesView } from "./changes-view.js";
import { type DialectName, type TableName, viewSuffixes } from "./dialect.js";
import { createHistoryView, historyNeeds } from "./history-view.js";
import { createNewestView, newestNeeds } from "./newest-view.js";
import type { TableSchema } from "./table-schema.js";

/** A view beside a table. */
export interface TableView {
  readonly view: TableName;
  /** What its rows are. */
  readonly about: readonly string[];
  readonly create: string;
  /** It has all columns of the table, those that are added later too. */
  readonly showsAll: boolean;
}

type ViewedTable = Pick<TableSchema, "prefix" | "rowKey" | "key" | "mode"> & {
  readonly columns: readonly { readonly name: string }[];
};

const kinds = {
  newest: {
    needs: newestNeeds,
    create: createNewestView,
    about: ["The newest row of each item."],
  },
  changes: {
    needs: changesNeeds,
    create: createChangesView,
    about: ["What changed about each item from one run to the next that knows its verdict."],
  },
  history: {
    needs: historyNeeds,
    create: createHistoryView,
    about: [
      "One row per item and verdict, for consecutive runs with that verdict. valid_from is when the rows of the",
      "first of them were published, valid_to is where the item's next row begins; NULL while the verdict holds.",
      "A run that lacks the item, or does not know its verdict, neither begins nor ends a row.",
    ],
  },
} as const;

/**
 * The views of a table: those that its mode gives a meaning and its columns suffice for. A table that
 * keeps one run has no past, and one with a row per item holds the newest rows itself.
 */
export function viewsOf(
  dialect: DialectName,
  table: TableName,
  schema: ViewedTable,
): readonly TableView[] {
  const { prefix, mode } = schema;
  const names = new Set(schema.columns.map(({ name }) => name));
  const hasHistory = mode === "append";
  return (["newest", "changes", "history"] as const)
    .filter((name) => (name === "newest" ? !isPerItem(schema) : hasHistory))
    .filter((name) => kinds[name].needs.every((plain) => names.has(prefix + plain)))
    .map((name) => ({
      view: { ...table, name: table.name + viewSuffixes[name] },
      about: kinds[name].about,
      create: kinds[name].create(dialect, table, schema),
      showsAll: name === "newest",
    }));
}

/** Whether the table has one row per item. */
function isPerItem({ prefix, key, mode }: ViewedTable): boolean {
  return mode === "merge" && key.join() === [`${prefix}kind`, `${prefix}item`].join();
}
