#!/usr/bin/env node
// Where the program begins. CommonJS, because the loader of ES modules already reads its first file
// on the threads whose number is set here. What they do waits for the disk, or for one another in
// LMDB, so that more than two bring nothing; each keeps memory of its own (3 MB of 180).
process.env["UV_THREADPOOL_SIZE"] ??= "2";
void import("./main.js");
