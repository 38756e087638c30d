import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { abortOnBrokenOutput, abortOnSignals } from "../../../src/cli/command-line/command-line.js";
import { OutputClosedError } from "../../../src/io/output/part-file.js";
import { ManualClock } from "../../helpers/manual-clock.js";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

function setUp() {
  const controller = new AbortController();
  const process = new FakeProcess();
  const clock = new ManualClock();
  abortOnSignals(controller, process, clock);
  return { controller, process, clock };
}

describe("signals", () => {
  const signals = [
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGQUIT", 131],
    ["SIGTERM", 143],
  ] as const;

  test.each(signals)("the first %s aborts the run with its name", (name) => {
    const { controller, process } = setUp();
    process.emit(name);
    expect(controller.signal.reason).toMatchObject({ code: "interrupted", signal: name });
  });

  test.each(signals)("a second %s ends the process at once", async (name, code) => {
    const { process, clock } = setUp();
    process.emit("SIGINT");
    await clock.advance(1000);
    process.emit(name);
    expect(process.exits).toEqual([code]);
  });

  test("a signal that npm forwards again counts once", async () => {
    const { process, clock } = setUp();
    process.emit("SIGINT");
    await clock.advance(5);
    process.emit("SIGINT");
    expect(process.exits).toEqual([]);
  });
});

describe("stdout", () => {
  function failing(code: string) {
    const controller = new AbortController();
    const stdout = new Writable();
    const watch = abortOnBrokenOutput(controller, stdout);
    stdout.emit("error", Object.assign(new Error("write"), { code }));
    return { controller, watch };
  }

  test("a closed reader ends the run without an error", () => {
    const { controller, watch } = failing("EPIPE");
    expect(controller.signal.reason).toBeInstanceOf(OutputClosedError);
    expect(watch.fault()).toBeInstanceOf(OutputClosedError);
  });

  test("a full disk ends the run with advice", () => {
    const { controller } = failing("ENOSPC");
    expect(controller.signal.reason).toMatchObject({ code: "output_disk_full" });
  });
});
