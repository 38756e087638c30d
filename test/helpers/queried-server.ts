import { beforeAll } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "./answering-server.js";
import { runRepute, type RunReputeResult } from "./run-repute.js";

/** A server for the tests of a file, and runs of the program that query it without a rate limit. */
export interface QueriedServer {
  /** Set once the tests begin. */
  readonly server: AnsweringServer;
  runIn(cwd: string, args: readonly string[]): Promise<RunReputeResult>;
}

export function queriedServer(): QueriedServer {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
    return () => server.close();
  });
  return {
    get server() {
      return server;
    },
    runIn(cwd, args) {
      const service = ["--intel-url", server.url, "--rate", "1000000/s", "--lookups", "query"];
      return runRepute([...args, ...service], { cwd });
    },
  };
}
