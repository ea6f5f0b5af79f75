// Sends every request of these documents to a fresh demonstration, in the order of the document, and compares the
// response with the one shown: the status, the headers shown, and every digit of the body. White space between the
// tokens of the JSON is ignored. `…` in a document matches text that differs each time: request ids, entity tags,
// the time of an update. Requests are sent with the token of tenant acme; a document can name another one,
// `$GLOBEX_TOKEN` or `$QUERY_TOKEN`, or an empty `Authorization` for none. After an intended change, run
// `deno run -A test/docs/update_responses.ts`.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import type { DocumentedService } from "./documented_service.ts";
import { startDemonstration } from "./documented_service.ts";
import type { Example } from "./example.ts";
import { compactJson, DOCUMENTS, matches, readExamples } from "./example.ts";
import { sendExample } from "./send_example.ts";

for (const document of DOCUMENTS) {
  const markdown = await readFile(new URL(`../../${document}`, import.meta.url), "utf8");

  describe(`the requests in ${document}`, () => {
    let service: DocumentedService;
    before(async () => {
      service = await startDemonstration();
    });
    after(() => service.close());

    for (const example of readExamples(markdown)) {
      const { method, path } = example.request;
      it(`line ${example.line}: ${method} ${path} responds as shown`, async () => {
        await checkExample(service, example);
      });
    }
  });
}

async function checkExample({ app }: DocumentedService, example: Example): Promise<void> {
  const { response: shown } = example;
  const response = await sendExample(app, example);
  const body = compactJson(response.body);
  // Compares the whole texts, so that the failure shows both.
  if (!matches(body, compactJson(shown.body))) assertEquals(body, compactJson(shown.body));
  assertEquals(response.status, shown.status);
  // No document shows pages that may overlap. @see Q102
  assertEquals(response.headers.get("rowgate-order"), null);
  for (const [name, value] of shown.headers) {
    const actual = response.headers.get(name) ?? "";
    if (!matches(actual, value)) assertEquals(`${name}: ${actual}`, `${name}: ${value}`);
  }
}
