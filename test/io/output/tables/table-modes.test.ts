import { describeTableModes, duckdbPlace } from "./table-modes.js";

describeTableModes(duckdbPlace);
