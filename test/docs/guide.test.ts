// Every request in these documents is sent to a fresh demonstration, in the order of the document, and the
// answer compared with the one shown: status, the headers shown, and the body digit by digit; white space
// between the tokens of the JSON does not count. `…` in the document stands where a value differs each
// time: request ids, entity tags, the time of an update made just now. Requests go out with the token of tenant
// acme, whatever the document shows as `$TOKEN`; `$GLOBEX_TOKEN`, `$QUERY_TOKEN` are others, an empty
// `Authorization` means none. After a change on purpose: `deno run -A test/docs/rewrite.ts`.
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
      it(`line ${example.line}: ${method} ${path} answers as shown`, async () => {
        await checkExample(service, example);
      });
    }
  });
}

async function checkExample({ app }: DocumentedService, example: Example): Promise<void> {
  const { answer: shown } = example;
  const answer = await sendExample(app, example);
  const body = compactJson(answer.body);
  // The whole of both, for the one who has to mend the document.
  if (!matches(body, compactJson(shown.body))) assertEquals(body, compactJson(shown.body));
  assertEquals(answer.status, shown.status);
  for (const [name, value] of shown.headers) {
    const actual = answer.headers.get(name) ?? "";
    if (!matches(actual, value)) assertEquals(`${name}: ${actual}`, `${name}: ${value}`);
  }
}
