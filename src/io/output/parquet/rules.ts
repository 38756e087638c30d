import { parquetLacks } from "../../formats/column-types.js";
import { type ColumnRules, plainName } from "../typed/column-rules.js";

export const parquetRules: ColumnRules = {
  longest: Number.POSITIVE_INFINITY,
  clean: plainName,
  reserved: [],
  lacks: parquetLacks,
};
