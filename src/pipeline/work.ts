import type { Lookup } from "../lookup/types.js";
import type { Encoder } from "../sinks/types.js";
import type { OpenedSource, SourceFormat, SourcePosition } from "../sources/types.js";
import type { BeginRow } from "./begin-row.js";
import type { Tally } from "./tally.js";

/** What is to be done with the rows of an input; `execute` does the rest. */
export interface Work {
  /** Asked only where nothing else says the format of the output. */
  inputFormat(): Promise<SourceFormat>;
  /** Options of reading that change the output, by flag name; a resumed run must have the same. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the input, at its beginning or where an interrupted run got to. */
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  /** False: partial answers are asked for again where a cache has them. Default true. */
  readonly partialsFromCache?: boolean;
  /** What each row begins with. */
  begin(lookup: Lookup, tally: Tally): BeginRow;
  /** Changes how rows are written, where the work needs it. */
  readonly encoder?: (encoder: Encoder) => Encoder;
}
