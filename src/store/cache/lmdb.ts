import { createRequire } from "node:module";
import type * as Lmdb from "lmdb";

// As the CommonJS module that it is as well: that is one file, and half of the time (25 ms).
const lmdb = createRequire(import.meta.url)("lmdb") as typeof Lmdb;

/** Opens an environment of LMDB. */
export const open = lmdb.open;
