// Opens the service of the module named first on each database named after it, closes it, and prints what came of it as
// JSON: the status of /readyz, or the message of the error. It ends by itself, when nothing is left open.
import process from "node:process";

const [module = "", ...urls] = process.argv.slice(2);
const { openService } = await import(new URL(module, import.meta.url).href);

async function open(url) {
  try {
    const { app, close } = await openService({ environment: { DATABASE_URL: url }, log: () => {} });
    const { status } = await app(new Request("http://localhost/readyz"));
    await close();
    return status;
  } catch (error) {
    return error.message;
  }
}

const results = [];
for (const url of urls) results.push(await open(url));
process.stdout.write(JSON.stringify(results));
