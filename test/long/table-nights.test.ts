import { duckdbPlace } from "../contract/table-modes.js";
import { describeTableNights } from "../contract/table-nights.js";

describeTableNights({ ...duckdbPlace, modes: ["append", "merge"] });
