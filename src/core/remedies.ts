/** The remedy if what an interrupted run left cannot be continued. */
export const startOver = "start over with --restart";

/** Remedy for an input that is not the one of the interrupted run any more. */
export const startAnew =
  "repeat the command with --resume: unless the input is restored, a new run starts with the answers so far";

/** Remedy for staged rows that are lost or damaged: their answers are in the journal. */
export const writeAgain =
  "check the disk and what else writes there, then continue with --resume: the rows are written again with the answers so far";
