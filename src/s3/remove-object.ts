import { objectAt } from "./address.js";
import { withStore } from "./client.js";

/** Removes an object, if it is there. @throws ReputeError */
export async function removeObject(address: string): Promise<void> {
  await withStore(address, "write", ({ sdk, client }) =>
    client.send(new sdk.DeleteObjectCommand(objectAt(address))),
  );
}
