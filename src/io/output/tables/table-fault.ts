import { UsageError } from "../../../core/errors.js";

export function severalStatements(): UsageError {
  return new UsageError("bad_query", "the query of the input has several statements", {
    hint: "give a single SELECT",
  });
}

export function queryRefused(said: string, cause?: unknown): UsageError {
  return new UsageError("bad_query", `the database refuses the query: ${said}`, {
    cause,
    hint: "correct the query of the input; it has to be a single SELECT, which writes nothing",
  });
}
