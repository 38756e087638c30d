import { setFlagsFromString } from "node:v8";

/**
 * Lets undici's parser (WebAssembly) run twenty times as long as is usual before V8 compiles it a
 * second time, for speed. Its main function takes that compiler a third of a second and 30 MB, and a
 * process that has asked only a few questions would wait for it at its end.
 */
export function compileParserLate(): void {
  setFlagsFromString("--wasm-tiering-budget=36000000");
}

/**
 * A run makes garbage at a steady pace and keeps little. Left alone, V8 lets the heap of a machine
 * with much memory grow slowly to several times what is live before it collects. So it begins to
 * collect when half of what it would allow is used (`marking-hard-trigger`), allows a quarter above
 * what is live, or 8 MB, and keeps the space for new objects at the size that it has: 2 × 8 MB here,
 * 2 × 1 MB on a thread that starts later. With that a run has its peak of memory when it starts,
 * however long it is, and is no slower.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--heap-growing-percent=25");
  setFlagsFromString("--incremental-marking-hard-trigger=50");
  keepNewSpace();
  // The heap of another thread sets the factor back to two.
  process.on("worker", (worker) => worker.once("online", keepNewSpace));
}

function keepNewSpace(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
