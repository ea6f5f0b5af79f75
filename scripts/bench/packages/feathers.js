/**
 * Feathers as its manual has it: Koa, its own service for a table through Knex, a pool of 10, no check
 * of a token, no hook. The environment names a port and a database.
 */
import process from "node:process";

// Named by variables, so that checking the types of this repository does not need these packages.
const [FEATHERS, KOA, SERVICE, KNEX, PG] = [
  "@feathersjs/feathers",
  "@feathersjs/koa",
  "@feathersjs/knex",
  "knex",
  "pg",
];
const { feathers } = await import(FEATHERS);
const { bodyParser, errorHandler, koa, rest } = await import(KOA);
const { KnexService } = await import(SERVICE);
const { default: knex } = await import(KNEX);
const { default: pg } = await import(PG);

const TIMESTAMPTZ = 1184;
// Its dates have milliseconds only; the others return what Postgres has.
pg.types.setTypeParser(TIMESTAMPTZ, (text) => text);

const { PORT, DATABASE_URL } = process.env;
const Model = knex({ client: "pg", connection: DATABASE_URL, pool: { min: 0, max: 10 } });
const app = koa(feathers());
app.use(errorHandler());
app.use(bodyParser());
app.configure(rest());
const paginate = { default: 50, max: 200 };
app.use("contacts", new KnexService({ Model, name: "contacts", id: "id", paginate }));
await app.listen(Number(PORT), "127.0.0.1");
