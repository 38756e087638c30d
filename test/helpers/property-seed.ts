import { configureGlobal } from "fast-check";

/** Random cases are the same in every run; another seed finds others. */
configureGlobal({ seed: Number(process.env["REPUTE_TEST_SEED"] ?? 1) });
