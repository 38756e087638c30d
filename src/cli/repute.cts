#!/usr/bin/env node
// Where the program begins, and what has to be settled before anything else is loaded. CommonJS,
// because the loader of ES modules already reads its first file on the threads whose number is set
// here.

// Node.js opens its debugger on SIGUSR1 unless somebody listens. `command-line.ts` prints the
// progress then; until it is loaded, the signal does nothing.
process.on("SIGUSR1", () => undefined);

// What these threads do waits for the disk, or for one another in LMDB, so that more than two bring
// nothing; each keeps memory of its own (3 MB).
process.env["UV_THREADPOOL_SIZE"] ??= "2";

// Space for new objects: from 1 MB to 8 at once, instead of by doubling; `tune-engine.ts` ends its
// growth there.
require("node:v8").setFlagsFromString("--semi-space-growth-factor=8");

// What lives in it is 1 MB and less: threads that share that work wait for each other as long as one
// takes, at twice the CPU time.
require("node:v8").setFlagsFromString("--no-parallel-scavenge");

void import("./main.js");
