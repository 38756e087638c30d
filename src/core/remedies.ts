/** The remedy if what an interrupted run left cannot be continued. */
export const startOver = "start over with --restart";

/** Remedy for an input that is not the one of the interrupted run any more. */
export const startAnew =
  "repeat the command with --resume: unless the input is restored, a new run starts with the answers so far";
