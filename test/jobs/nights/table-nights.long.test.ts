import { duckdbPlace } from "../../io/output/tables/table-modes.js";
import { describeTableNights } from "./table-nights.js";

describeTableNights({ ...duckdbPlace, modes: ["append", "merge"] });
