import { setFlagsFromString } from "node:v8";

/**
 * Lets undici's parser (WebAssembly) read some 500 answers, instead of one, before V8 compiles it a
 * second time, for speed. Its main function takes that compiler a tenth to a third of a second and
 * 30 MB, and a process that has asked only a few questions would wait for it at its end.
 */
export function compileParserLate(): void {
  setFlagsFromString("--wasm-tiering-budget=2000000000");
}

/**
 * A run makes garbage at a steady pace and keeps little. Left alone, V8 lets the heap of a machine
 * with much memory grow slowly to several times what is live before it collects. So it begins to
 * collect when half of what it would allow is used (`marking-hard-trigger`), allows a quarter above
 * what is live, or 8 MB, and keeps the space for new objects at the size that it has, 2 × 8 MB. With
 * that a run has its peak of memory when it starts, however long it is, and is no slower.
 *
 * It begins when the modules of the run are loaded: loading leaves garbage of which nothing stays, and
 * would be stopped for it (18 ms).
 */
export async function keepHeapSmallAfter<T>(load: () => Promise<T>): Promise<T> {
  let isLoaded = false;
  // The heap of another thread, which may start meanwhile, sets the factor back to two.
  process.on("worker", (worker) =>
    worker.once("online", () => {
      if (isLoaded) keepNewSpace();
    }),
  );
  const loaded = await load();
  isLoaded = true;
  setFlagsFromString("--heap-growing-percent=25");
  setFlagsFromString("--incremental-marking-hard-trigger=50");
  keepNewSpace();
  return loaded;
}

function keepNewSpace(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
