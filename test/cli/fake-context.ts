import { PassThrough, Readable, Writable } from "node:stream";
import type { CliContext } from "../../src/cli/terminal/cli-context.js";
import { Reporter } from "../../src/cli/terminal/reporter.js";
import type { TerminalStream } from "../../src/cli/terminal/reporter.js";
import { ManualClock } from "../helpers/manual-clock.js";

/**
 * A stream that keeps what was written to it; a terminal of that width, if one is given. Emits
 * `written` each time.
 */
export class FakeStream extends Writable implements TerminalStream {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #chunks: Buffer[] = [];

  constructor(columns: number | null = null) {
    super();
    this.isTTY = columns !== null;
    this.columns = columns ?? 80;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.emit("written");
    done();
  }
}

export interface FakeContext extends CliContext {
  readonly stdout: FakeStream;
  readonly stderr: FakeStream;
  readonly controller: AbortController;
}

export interface FakeContextOptions {
  readonly env?: CliContext["env"];
  /** What is piped in; null for a terminal at which nobody types. */
  readonly stdin?: string | Buffer | null;
  /** Width of stdout as a terminal; none by default. */
  readonly columns?: number;
}

/** What a command sees of the process around it, in memory. */
export function fakeContext(options: FakeContextOptions = {}): FakeContext {
  const { env = {}, stdin = null, columns = null } = options;
  const controller = new AbortController();
  const stderr = new FakeStream();
  const input =
    stdin === null
      ? Object.assign(new PassThrough(), { isTTY: true })
      : Readable.from([Buffer.from(stdin)], { objectMode: false });
  return {
    version: "9.9.9",
    // The addresses of tests are those for documentation, which are reserved.
    env: { REPUTE_BOGONS: "ask", ...env },
    stdin: () => input,
    stdout: new FakeStream(columns),
    stderr,
    signal: controller.signal,
    clock: new ManualClock(),
    reporter: new Reporter(stderr),
    controller,
  };
}
