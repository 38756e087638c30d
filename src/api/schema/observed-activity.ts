import { z } from "zod";
import { dateTime, text } from "./field.js";

/** One observation of a honeypot (interface: observedActivity, honeypotInteractions). */
const honeypotObservationSchema = z.looseObject({
  firstSeen: dateTime("First time that this was observed (interface: observedActivity)"),
  lastSeen: dateTime("Last time that this was observed (interface: observedActivity)"),
  service: text("The service of the honeypot that was addressed (interface: observedActivity)"),
  type: text("What kind of activity it was (interface: observedActivity)"),
});

/** One observation of a spam trap (interface: observedActivity, spamtrapInteractions). */
const spamtrapObservationSchema = z.looseObject({
  firstSeen: dateTime("First time that this was observed (interface: observedActivity)"),
  lastSeen: dateTime("Last time that this was observed (interface: observedActivity)"),
  type: text("What kind of activity it was (interface: observedActivity)"),
});

/** What honeypots and spam traps saw of an item (interface: observedActivity). */
export const observedActivitySchema = z
  .looseObject({
    honeypotInteractions: z
      .looseObject({
        firstSeen: firstSeen(),
        lastSeen: lastSeen(),
        observations: z
          .array(honeypotObservationSchema)
          .describe("The single observations (interface: observedActivity)"),
      })
      .describe("What honeypots saw of the item (interface: observedActivity)"),
    spamtrapInteractions: z
      .looseObject({
        firstSeen: firstSeen(),
        lastSeen: lastSeen(),
        observations: z
          .array(spamtrapObservationSchema)
          .describe("The single observations (interface: observedActivity)"),
      })
      .describe("What spam traps saw of the item (interface: observedActivity)"),
  })
  .describe("What honeypots and spam traps saw of the item (interface: observedActivity)");

export type ObservedActivity = z.infer<typeof observedActivitySchema>;

function firstSeen() {
  return dateTime("First interaction, or null (interface: observedActivity)").nullable();
}

function lastSeen() {
  return dateTime("Last interaction, or null (interface: observedActivity)").nullable();
}
