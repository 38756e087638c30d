import { createServer, connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** What becomes of the connection over which a COMMIT is sent. */
export type Fate =
  /** Nothing special. */
  | "pass"
  /** The server commits, but its answer is lost with the connection. */
  | "lose answer"
  /** The client loses its connection; the COMMIT arrives only when `deliver` is called. */
  | "arrive late";

/** Stands between a client and the server and cuts connections where it matters most. */
export class PostgresProxy {
  /** Fate of the next connection that commits a copy of rows. */
  fate: Fate = "pass";
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #held: (() => void) | null = null;

  private constructor(target: number) {
    this.#server = createServer((client) => this.#join(client, connect(target, "127.0.0.1")));
  }

  static async start(target: number): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Lets a COMMIT that was kept back go to the server. */
  deliver(): void {
    this.#held?.();
    this.#held = null;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => this.#sockets.delete(socket));
    }
    let copied = false;
    let committed = false;
    let cut = false;
    client.on("data", (chunk: Buffer) => {
      // COPY's data ends with a message "c" of its own.
      copied ||= chunk.includes("COPY ");
      const commits = copied && chunk.includes("COMMIT\0");
      if (commits && this.fate === "arrive late") {
        this.fate = "pass";
        cut = true;
        this.#held = () => void server.end(chunk);
        client.destroy();
        return;
      }
      if (commits && this.fate === "lose answer") {
        this.fate = "pass";
        committed = true;
      }
      server.write(chunk);
    });
    server.on("data", (chunk: Buffer) => {
      if (committed) client.destroy();
      else client.write(chunk);
    });
    client.on("close", () => {
      if (!cut) server.destroy();
    });
    server.on("close", () => client.destroy());
  }
}
