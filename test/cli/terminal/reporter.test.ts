import { expect, test, vi } from "vitest";
import { FatalError, UsageError } from "../../../src/core/errors.js";
import { Reporter } from "../../../src/cli/terminal/reporter.js";
import { FakeStream } from "../fake-context.js";

function errorText(error: unknown, options: Parameters<Reporter["error"]>[1]): string {
  const stream = new FakeStream();
  new Reporter(stream).error(error, options);
  return stream.text.trimEnd();
}

test("prints a warning once while it goes on, and again when it comes back", () => {
  const stream = new FakeStream();
  let now = 0;
  const reporter = new Reporter(stream, { now: () => now });
  // Every 15 s, as those of --metrics.
  for (; now < 600_000; now += 15_000) reporter.warning("the service is away");
  expect(stream.text).toBe("repute: warning: the service is away\n");
  now += 60_000;
  reporter.warning("the service is away");
  expect(stream.text).toBe("repute: warning: the service is away\n".repeat(2));
});

test("escapes control characters of messages", () => {
  const stream = new FakeStream(80);
  new Reporter(stream).warning("column \u001B[31mred\u009B2J\r\nnext");
  expect(stream.text).toBe(
    "repute: warning: column <U+001B>[31mred<U+009B>2J<U+000D><U+000A>next\n",
  );
});

test("keeps the progress line below what it prints", () => {
  const stream = new FakeStream(80);
  const reporter = new Reporter(stream);
  vi.useFakeTimers();
  reporter.follow(() => "10 rows");
  vi.advanceTimersByTime(250);
  vi.useRealTimers();
  reporter.print("hello");
  reporter.follow(null);
  expect(stream.text).toBe("10 rows\r\u001B[Khello\n10 rows\r\u001B[K");
});

test("never prints the password of a URL", () => {
  const stream = new FakeStream();
  new Reporter(stream).print("no answer from https://me:pass-123@intel.example/beta");
  expect(stream.text).toBe("no answer from https://***@intel.example/beta\n");
});

test("a usage error says what is wrong, what to do and where to find help", () => {
  const error = new UsageError("input_not_found", "there is no column ioc", {
    hint: "did you mean ip?",
  });
  expect(errorText(error, "enrich")).toBe(
    "repute: there is no column ioc\n  did you mean ip?\n  see: repute enrich --help",
  );
});

test("reports an unexpected error as a bug, without a stack trace", () => {
  const text = errorText(new TypeError("x is undefined"), "enrich");
  expect(text).toMatch(/^repute: unexpected error: x is undefined\n {2}this is a bug in repute/);
  expect(text).not.toContain("    at ");
});

test("prints the code of a failed request, as in JSON", () => {
  const error = new FatalError("connect_refused", "the service refused the connection");
  expect(errorText(error, null)).toBe(
    "repute: the service refused the connection (connect_refused)",
  );
});
