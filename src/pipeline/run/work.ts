import type { Lookup } from "../../lookup/types.js";
import type { Encoder } from "../../outputs/types.js";
import type { OpenedSource, SourceFormat, SourcePosition } from "../../inputs/types.js";
import type { BeginRow } from "./begin-row.js";

/** What is to be done with the rows of an input; `execute` does the rest. */
export interface Work {
  /** The format of the input: that of the output where nothing else names one. */
  inputFormat(): Promise<SourceFormat>;
  /** Options of reading that change the output, by flag name; a resumed run must have the same. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the input, at its beginning or where an interrupted run got to. */
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  /** False: partial answers are asked for again where a cache has them. Default true. */
  readonly partialsFromCache?: boolean;
  /** What each row begins with. */
  begin(lookup: Lookup): BeginRow;
  /** Changes how rows are written, where the work needs it. */
  readonly encoder?: (encoder: Encoder) => Encoder;
}
