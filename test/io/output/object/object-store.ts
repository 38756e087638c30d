import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { crc32 } from "node:zlib";
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { startFauxqs } from "fauxqs";

/** What happens to a request on its way. */
export type Fault =
  | "slow down"
  | "denied"
  | "reset"
  | "wrong byte"
  | "cut"
  | "lost answer"
  | "not implemented";

/** A request, as the faults see it. */
interface PassingRequest {
  readonly method: string;
  readonly path: string;
  /** Whether it is to be done only if an object is absent, or has an ETag. */
  readonly isConditional: boolean;
}

/** What the proxy does for the store, which knows neither conditional writes nor checksums. */
interface Duties {
  /** Keys of objects that were sent with a checksum. */
  readonly checked: Set<string>;
  /** Conditional writes take turns. */
  turn: Promise<unknown>;
}

export interface ObjectStoreServer {
  /** Variables that point the SDK at the store. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests so far, as `METHOD PATH`. */
  readonly requests: string[];
  /** Decides on the fault of each request; null lets it pass. */
  fault: (passing: PassingRequest) => Fault | null | Promise<Fault | null>;
  put(key: string, content: string | Buffer): Promise<void>;
  get(key: string): Promise<Buffer>;
  /** All keys in order. */
  keys(prefix?: string): Promise<readonly string[]>;
  remove(key: string): Promise<void>;
  /** Keys of uploads that are neither completed nor given up. */
  uploads(): Promise<readonly string[]>;
  /** The object's ETag; null if there is none. */
  etag(key: string): Promise<string | null>;
  /** Keys in an answer to a listing. @default as the store does */
  pageSize: number | null;
  /** Whether answers to HEAD have checksums. @default true */
  tellsChecksums: boolean;
  close(): Promise<void>;
}

export const secret = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";

/**
 * Starts an S3-compatible server behind a proxy that makes faults. As S3 does, the proxy compares the
 * CRC-32 of each body with the one that is announced, tells it to those who ask, and keeps
 * conditional writes from replacing objects.
 */
export async function startObjectStore(): Promise<ObjectStoreServer> {
  const server = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  const requests: string[] = [];
  const duties: Duties = { checked: new Set(), turn: Promise.resolve() };
  const proxy = createServer((incoming, outgoing) => {
    const { method = "", url = "" } = incoming;
    requests.push(`${method} ${url}`);
    if (store.pageSize !== null && /[?&]list-type=2/.test(url)) {
      incoming.url = `${url}&max-keys=${store.pageSize}`;
    }
    const isConditional = isConditionalWrite(incoming);
    const decide = async () => store.fault({ method, path: url, isConditional });
    void decide()
      .then((fault) => pass(incoming, outgoing, { port: server.port, fault, store, duties }))
      // A program that is killed leaves half a request.
      .catch(() => outgoing.destroy());
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
    pageSize: null,
    tellsChecksums: true,
    async put(Key, Body) {
      duties.checked.delete(Key);
      await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    },
    async get(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async keys(Prefix = "") {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
      return Contents.map(({ Key }) => Key ?? "").sort();
    },
    async uploads() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return Uploads.map(({ Key }) => Key ?? "");
    },
    async remove(Key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },
    async etag(Key) {
      const head = client.send(new HeadObjectCommand({ Bucket, Key }));
      return head.then(({ ETag }) => ETag ?? "").catch(() => null);
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

function isConditionalWrite({ method, headers }: IncomingMessage): boolean {
  const isWrite = method === "PUT" || method === "POST";
  return isWrite && ("if-none-match" in headers || "if-match" in headers);
}

interface Passage {
  readonly port: number;
  readonly fault: Fault | null;
  readonly store: ObjectStoreServer;
  readonly duties: Duties;
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  passage: Passage,
): Promise<void> {
  const { fault, store, duties } = passage;
  const body = await buffer(incoming);
  if (fault === "reset") return void incoming.socket.destroy();
  if (fault === "slow down") return refuse(outgoing, 503, "SlowDown");
  if (fault === "not implemented") return refuse(outgoing, 501, "NotImplemented");
  if (fault === "denied") return refuse(outgoing, 403, "AccessDenied");
  if (fault === "wrong byte" && body.length > 0) body[body.length >> 1]! ^= 1;
  const { method, headers } = incoming;
  const announced = headers["x-amz-checksum-crc32"];
  if (announced !== undefined && method === "PUT" && announced !== checksumOf(body)) {
    return refuse(outgoing, 400, "BadDigest");
  }
  if (!isConditionalWrite(incoming)) return forward(incoming, outgoing, body, passage);
  const before = duties.turn;
  const write = async (): Promise<void> => {
    await before.catch(() => undefined);
    const etag = await store.etag(keyOf(incoming));
    if ("if-match" in headers && etag === null) return refuse(outgoing, 404, "NoSuchKey");
    const isMet = "if-match" in headers ? etag === headers["if-match"] : etag === null;
    if (!isMet) return refuse(outgoing, 412, "PreconditionFailed");
    await forward(incoming, outgoing, body, passage);
  };
  duties.turn = write();
  await duties.turn;
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer,
  { port, fault, store, duties: { checked } }: Passage,
): Promise<void> {
  const { method, url = "", headers } = incoming;
  const key = keyOf(incoming);
  const tells = store.tellsChecksums && method === "HEAD" && "x-amz-checksum-mode" in headers;
  const isTold = tells && checked.has(key);
  const checksum = isTold ? await store.get(key).then(checksumOf, () => null) : null;
  return new Promise((resolve) => {
    const forwarded = request({ port, host: "127.0.0.1", method, path: url, headers }, (answer) => {
      const isWhole = method === "PUT" && "x-amz-checksum-crc32" in headers;
      const isCompleted = method === "POST" && headers["x-amz-checksum-type"] === "FULL_OBJECT";
      const isDone = answer.statusCode === 200 && !url.includes("partNumber=");
      if (isDone && (isWhole || isCompleted)) checked.add(key);
      if (fault === "lost answer") {
        answer.resume();
        outgoing.destroy();
        return resolve();
      }
      outgoing.writeHead(answer.statusCode ?? 500, {
        ...answer.headers,
        ...(checksum !== null && {
          "x-amz-checksum-crc32": checksum,
          "x-amz-checksum-type": "FULL_OBJECT",
        }),
      });
      if (fault === "cut") {
        answer.once("data", (chunk: Buffer) => {
          outgoing.write(chunk.subarray(0, chunk.length >> 1), () => outgoing.destroy());
        });
      } else if (fault === "wrong byte" && method === "GET") {
        answer.once("data", (chunk: Buffer) => (chunk[chunk.length >> 1]! ^= 1));
        answer.pipe(outgoing);
      } else answer.pipe(outgoing);
      answer.once("close", () => resolve());
    });
    forwarded.on("error", () => {
      outgoing.destroy();
      resolve();
    });
    forwarded.end(body);
  });
}

/** The key of the object that a request names. */
function keyOf({ url = "" }: IncomingMessage): string {
  return decodeURIComponent(url.split("?", 1)[0]!.replace(/^\/[^/]*\//, ""));
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
