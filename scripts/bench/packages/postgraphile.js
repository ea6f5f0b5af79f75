/**
 * PostGraphile as its manual has it for production: a pool of 10, filters by the plugin for them, no
 * check of a token. The environment names a port and a database.
 */
import { createServer } from "node:http";
import process from "node:process";

// Named by variables, so that checking the types of this repository does not need these packages.
const [PG, POSTGRAPHILE, FILTERS] = [
  "pg",
  "postgraphile",
  "postgraphile-plugin-connection-filter",
];
process.env.GRAPHILE_ENV = "production";
const { default: pg } = await import(PG);
const { postgraphile } = await import(POSTGRAPHILE);
const { default: filters } = await import(FILTERS);

const { PORT, DATABASE_URL } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const handle = postgraphile(pool, "public", {
  appendPlugins: [filters],
  disableQueryLog: true,
  dynamicJson: true,
  graphiql: false,
  setofFunctionsContainNulls: false,
  legacyRelations: "omit",
});
createServer(handle).listen(Number(PORT), "127.0.0.1");
