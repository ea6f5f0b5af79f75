import { openClient, type Sql } from "../../src/database/postgres/driver.ts";
import type { EmbeddedServer } from "../../src/database/postgres/session_opener.ts";

/** Opens a plain client on an embedded Postgres. */
export function connectEmbedded({ connect }: EmbeddedServer): Sql {
  return openClient({ socket: connect, user: "postgres", database: "postgres", password: "" });
}
