import { FatalError } from "../../core/errors.js";

/**
 * @param line on which the record starts
 * @param quoteLine on which a quote opens that is still open, or null
 */
export function recordTooLong(name: string, line: number, quoteLine: number | null): FatalError {
  const message =
    quoteLine === null
      ? `the record on line ${line} of ${name} is longer than 16 MiB`
      : `line ${quoteLine} of ${name}: a quote opens here and is not closed within 16 MiB`;
  return new FatalError("input_record_too_long", message, {
    hint: quoteLine === null ? "Is the input in the format that --from says?" : quoteHint,
  });
}

/** What csv-parse stopped at; parameters as above. */
export function parserFailed(
  name: string,
  line: number,
  quoteLine: number | null,
  cause: Error,
): FatalError {
  if (quoteLine === null) {
    const message = `cannot read the record on line ${line} of ${name}: ${cause.message}`;
    return new FatalError("input_record", message, { cause });
  }
  const message = `line ${quoteLine} of ${name}: a quote opens here and is never closed`;
  return new FatalError("input_quote", message, { cause, hint: quoteHint });
}

const quoteHint = 'Close the quote. One that is text is doubled in a quoted cell: "a 5"" disk".';
