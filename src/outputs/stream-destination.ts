import { once } from "node:events";
import type { Writable } from "node:stream";
import { FatalError } from "../core/errors.js";
import { outputFault } from "./output-fault.js";
import type { Destination } from "./types.js";

/** The reader of a stream has gone (`| head`): there is no one left to write for. */
export class OutputClosedError extends FatalError {
  constructor(cause: unknown) {
    super("output_closed", "the reader of the output has closed it", { cause });
  }
}

/**
 * A stream such as stdout. Every write waits until the stream has taken the bytes.
 *
 * @throws OutputClosedError when the reader has gone
 */
export function streamDestination(stream: Writable, name: string): Destination {
  let length = 0;
  let fault: unknown = null;
  const onError = (error: unknown): void => {
    fault ??= error;
  };
  stream.on("error", onError);

  const explain = (error: unknown): Error =>
    (error as NodeJS.ErrnoException).code === "EPIPE" || stream.destroyed
      ? new OutputClosedError(error)
      : outputFault(name, error);

  const write = async (bytes: Uint8Array): Promise<void> => {
    if (fault !== null) throw explain(fault);
    if (stream.destroyed) throw new OutputClosedError(null);
    await new Promise<void>((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(explain(error)) : resolve()));
    });
    length += bytes.length;
  };

  return {
    path: null,
    get length() {
      return length;
    },
    checksum: () => null,
    write,
    sync: () => Promise.resolve(),
    async finish() {
      if (fault !== null) throw explain(fault);
      if (stream.writableNeedDrain) await once(stream, "drain");
      stream.off("error", onError);
    },
    abandon: () => Promise.resolve(),
  };
}
