import type { Socket } from "node:net";

/** `HTTP/1.1 100 ` */
const statusLine = /^HTTP\/1\.[01] 100 /;
const lastDigit = 11;

/**
 * Lets a server send `100 Continue` before an answer although nobody asked for it, as RFC 9110 section
 * 15.2 has clients do. undici takes it for a fault, and passes over any other interim answer: the
 * status becomes 102, which means as little.
 */
export function acceptContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk) && chunk[lastDigit] === 0x30 && chunk[0] === 0x48) {
      if (statusLine.test(chunk.toString("latin1", 0, lastDigit + 2))) chunk[lastDigit] = 0x32;
    }
    return chunk;
  };
  return socket;
}
