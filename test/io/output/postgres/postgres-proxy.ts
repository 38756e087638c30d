import { createServer, connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** What happens to the connection that copies rows and sends a COMMIT. */
export type Fate =
  /** Nothing. */
  | "pass"
  /** The server commits, but its answer is lost with the connection. */
  | "lose answer"
  /** The client's connection is closed; the COMMIT arrives only when `deliver` is called. */
  | "arrive late"
  /** The connection is cut while rows are copied. */
  | "cut copy";

/** A proxy between client and server that cuts connections at critical points. */
export class PostgresProxy {
  /** Fate of the next connection that commits copied rows. */
  fate: Fate = "pass";
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #held: (() => void) | null = null;

  private constructor(target: number) {
    this.#server = createServer({ noDelay: true }, (client) =>
      this.#join(client, connect({ host: "127.0.0.1", port: target, noDelay: true })),
    );
  }

  static async start(target: number): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sends a delayed COMMIT to the server. */
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
      // COPY's data ends with its own message "c".
      copied ||= chunk.includes("COPY ");
      if (copied && this.fate === "cut copy") {
        this.fate = "pass";
        client.destroy();
        return;
      }
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
