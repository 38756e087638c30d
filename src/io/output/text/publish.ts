import { existsSync } from "node:fs";
import { FatalError, startOver } from "../../../core/errors.js";
import { hashFile } from "../../../core/files/checksum.js";
import type { Encoder } from "../../formats/types.js";
import { outputGone, renamePart } from "../part-file.js";
import type { Publisher } from "../publisher.js";

/** Gives a file of text, which is its own stage, its name. */
export function textPublisher(file: string, encode: () => Encoder): Publisher {
  return {
    takesParts: false,
    check: async () => ({ encoder: encode() }),
    async publish(stage, { suffix }) {
      const rows = stage.count;
      if (existsSync(stage.path)) {
        const written = await stage.verify();
        await renamePart(file, suffix);
        return { ...written, rows };
      }
      const name = file + suffix;
      if (!existsSync(name)) throw outputGone(name);
      const { bytes, crc, sha256 } = await hashFile(name);
      if (bytes === stage.length && crc === stage.crc) return { bytes, sha256, rows };
      const message = `${name} is damaged: it has other bytes than the run wrote`;
      throw new FatalError("output_part_damaged", message, { hint: startOver });
    },
  };
}
