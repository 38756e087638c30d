import { z } from "zod";
import { dateTime, text } from "./field.js";

const seen = {
  firstSeen: dateTime("First time that this was observed (interface: observedActivity)"),
  lastSeen: dateTime("Last time that this was observed (interface: observedActivity)"),
};
const type = text("What kind of activity it was (interface: observedActivity)");

/** One observation of a honeypot (interface: observedActivity, honeypotInteractions). */
const honeypotObservation = {
  ...seen,
  service: text("The service of the honeypot that was addressed (interface: observedActivity)"),
  type,
};

/** One observation of a spam trap (interface: observedActivity, spamtrapInteractions). */
const spamtrapObservation = { ...seen, type };

/** What honeypots and spam traps saw of an item (interface: observedActivity). */
export const observedActivitySchema = z
  .looseObject({
    honeypotInteractions: interactions(honeypotObservation).describe(
      "What honeypots saw of the item (interface: observedActivity)",
    ),
    spamtrapInteractions: interactions(spamtrapObservation).describe(
      "What spam traps saw of the item (interface: observedActivity)",
    ),
  })
  .describe("What honeypots and spam traps saw of the item (interface: observedActivity)");

export type ObservedActivity = z.infer<typeof observedActivitySchema>;

function interactions<Shape extends z.ZodRawShape>(observation: Shape) {
  return z.looseObject({
    firstSeen: dateTime("First interaction, or null (interface: observedActivity)").nullable(),
    lastSeen: dateTime("Last interaction, or null (interface: observedActivity)").nullable(),
    observations: z
      .array(z.looseObject(observation))
      .describe("The single observations (interface: observedActivity)"),
  });
}
