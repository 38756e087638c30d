import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { startFauxqs } from "fauxqs";

/** What happens to a request on its way. */
export type Fault = "slow down" | "denied" | "reset" | "wrong byte" | "cut";

/** A request, as the faults see it. */
interface PassingRequest {
  readonly method: string;
  readonly path: string;
}

export interface ObjectStoreServer {
  /** Variables that point the SDK at the store. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests so far, as `METHOD PATH`. */
  readonly requests: string[];
  /** Decides on the fault of each request; null lets it pass. */
  fault: (passing: PassingRequest) => Fault | null;
  put(key: string, content: string | Buffer): Promise<void>;
  get(key: string): Promise<Buffer>;
  keys(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export const secret = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";

/**
 * Starts an S3-compatible server behind a proxy that makes faults. The proxy compares the CRC-32 of
 * each body with the one that is announced, as S3 does.
 */
export async function startObjectStore(): Promise<ObjectStoreServer> {
  const server = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  const requests: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    const { method = "", url = "" } = incoming;
    requests.push(`${method} ${url}`);
    const fault = store.fault({ method, path: url });
    void pass(incoming, outgoing, { port: server.port, fault });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
  const credentials = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: secret };
  const client = new S3Client({
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${server.port}`,
    forcePathStyle: true,
    credentials,
  });
  const Bucket = "lake";
  await client.send(new CreateBucketCommand({ Bucket }));
  const store: ObjectStoreServer = {
    env: {
      AWS_ENDPOINT_URL_S3: address,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_CONFIG_FILE: "/nonexistent",
      AWS_SHARED_CREDENTIALS_FILE: "/nonexistent",
    },
    requests,
    fault: () => null,
    async put(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    },
    async get(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async keys() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
      return Contents.map(({ Key }) => Key ?? "").sort();
    },
    async close() {
      client.destroy();
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await server.stop();
    },
  };
  return store;
}

interface Passage {
  readonly port: number;
  readonly fault: Fault | null;
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { port, fault }: Passage,
): Promise<void> {
  const body = await bodyOf(incoming);
  if (fault === "reset") return void incoming.socket.destroy();
  if (fault === "slow down") return refuse(outgoing, 503, "SlowDown");
  if (fault === "denied") return refuse(outgoing, 403, "AccessDenied");
  if (fault === "wrong byte" && body.length > 0) body[body.length >> 1]! ^= 1;
  const announced = incoming.headers["x-amz-checksum-crc32"];
  if (announced !== undefined && incoming.method === "PUT" && announced !== checksumOf(body)) {
    return refuse(outgoing, 400, "BadDigest");
  }
  const forwarded = request(
    {
      port,
      host: "127.0.0.1",
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      if (fault === "cut") {
        answer.once("data", (chunk: Buffer) => {
          outgoing.write(chunk.subarray(0, chunk.length >> 1), () => outgoing.destroy());
        });
      } else answer.pipe(outgoing);
    },
  );
  forwarded.on("error", () => outgoing.destroy());
  forwarded.end(body);
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function refuse(outgoing: ServerResponse, status: number, code: string): void {
  outgoing.writeHead(status, { "content-type": "application/xml" });
  outgoing.end(
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${secret}</Message></Error>`,
  );
}

function checksumOf(bytes: Buffer): string {
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(bytes));
  return crc.toString("base64");
}
