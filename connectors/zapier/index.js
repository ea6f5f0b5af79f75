import zapier from "zapier-platform-core";
import packageJson from "./package.json" with { type: "json" };
import { afterResponse, authentication, beforeRequest } from "./authentication.js";
import { updateMany } from "./creates/update_many.js";
import { updateRecord } from "./creates/update_record.js";
import { findRecords } from "./searches/find_records.js";
import { changed } from "./triggers/changed.js";
import { fieldList, tableList } from "./triggers/lists.js";
import { modified } from "./triggers/modified.js";

/** The app as Zapier reads it. */
export default {
  version: packageJson.version,
  platformVersion: zapier.version,
  authentication,
  beforeRequest,
  afterResponse,
  // Rowgate's own message says more than the status; see afterResponse.
  flags: { skipThrowForStatus: true, cleanInputData: false },
  triggers: {
    [changed.key]: changed,
    [modified.key]: modified,
    [tableList.key]: tableList,
    [fieldList.key]: fieldList,
  },
  searches: { [findRecords.key]: findRecords },
  creates: { [updateRecord.key]: updateRecord, [updateMany.key]: updateMany },
};
