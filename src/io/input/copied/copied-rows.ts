import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cellRecords } from "../../formats/csv/cells.js";
import { openInput } from "../open-input.js";
import type { TableInput } from "../table-input.js";

/** The texts of a table's rows, through a temporary copy; "" for null. */
export async function* copiedRows(
  table: Pick<TableInput, "copy">,
): AsyncGenerator<readonly (readonly string[])[]> {
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  try {
    const path = join(folder, "input.rows");
    await table.copy({ path, shape: "cells" }, {});
    const bytes = await openInput({ path }, { gzip: false, offset: 0 });
    try {
      let headers = 1;
      for await (const records of cellRecords(bytes, 0)) {
        yield records.slice(headers).map(({ cells }) => cells);
        headers = 0;
      }
    } finally {
      await bytes.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
