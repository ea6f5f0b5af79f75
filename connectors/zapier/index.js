import zapier from "zapier-platform-core";
import packageJson from "./package.json" with { type: "json" };
import { afterResponse, authentication, beforeRequest } from "./authentication.js";
import { createRecord } from "./creates/create_record.js";
import { deleteRecord } from "./creates/delete_record.js";
import { updateMany } from "./creates/update_many.js";
import { upsertRecord } from "./creates/upsert_record.js";
import { updateRecord } from "./creates/update_record.js";
import { findRecord } from "./searches/find_record.js";
import { findRecords } from "./searches/find_records.js";
import { changed } from "./triggers/changed.js";
import { fieldList, matchKeyList, TABLE_LISTS } from "./triggers/lists.js";
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
    ...Object.fromEntries(TABLE_LISTS.map((list) => [list.key, list])),
    [fieldList.key]: fieldList,
    [matchKeyList.key]: matchKeyList,
  },
  searches: { [findRecord.key]: findRecord, [findRecords.key]: findRecords },
  creates: {
    [createRecord.key]: createRecord,
    [deleteRecord.key]: deleteRecord,
    [updateRecord.key]: updateRecord,
    [updateMany.key]: updateMany,
    [upsertRecord.key]: upsertRecord,
  },
};
