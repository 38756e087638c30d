import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

// With one processor, runs make their requests without a thread, which takes long to start. Tests of
// threads, and programs in a process of their own, start them nevertheless.
os.availableParallelism = () => 1;
syncBuiltinESMExports();
