// The programs beside the requests of DOCUMENTS_IN_LANGUAGES are what the console copies, and they run. After an
// intended change, run `deno run -A test/docs/write_languages.ts`.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { DOCUMENTS_IN_LANGUAGES as DOCUMENTS, SHOWN, writeLanguages } from "./languages.ts";
import { runCopied, type Runner } from "./run_copied.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

const RUNNERS = [["bash", "curl"], ["python", "Python"], ["ts", "Deno"]] as const;

describe("the programs beside requests", () => {
  let service: DocumentedService;
  let server: AppServer;
  before(async () => {
    service = await startDemonstration();
    server = await serveApp(service.app);
  });
  after(async () => {
    await server.close();
    await service.close();
  });

  for (const document of DOCUMENTS) {
    it(`are those that the console copies: ${document}`, async () => {
      const text = await readDocument(document);
      assertEquals(text, writeLanguages(text));
    });
  }

  for (const [language, runner] of RUNNERS) {
    it(`run in ${language}`, async () => {
      const texts = await Promise.all(DOCUMENTS.map(readDocument));
      const programs = texts.flatMap((text) => readTexts(text, language))
        .map((program) => program.replaceAll(SHOWN, server.address));
      assert(programs.length >= 6);
      const bodies = await runCopied(runner satisfies Runner, programs);
      for (const body of bodies ?? []) assertEquals(body.success, true, JSON.stringify(body));
    });

    it(`repeat an update whose answer was lost, under the same key, in ${language}`, async () => {
      const program = readTexts(await readDocument("docs/updates.md"), language)
        .find((text) => text.includes("Idempotency-Key"))!;
      const answers: Response[] = [];
      const keys: (string | null)[] = [];
      const losing = await serveApp(async (request) => {
        keys.push(request.headers.get("idempotency-key"));
        answers.push(await service.app(request));
        // What stands between says that there is no answer, although the update was made.
        const lost = new Response(null, { status: 503, headers: { "retry-after": "0" } });
        return answers.length === 1 ? lost : answers.at(-1)!.clone();
      });
      try {
        const bodies = await runCopied(runner, [program.replaceAll(SHOWN, losing.address)]);
        if (bodies === undefined) return;
        assertEquals(bodies.map(({ success, matched }) => [success, matched]), [[true, 1]]);
        assertEquals(answers.map(({ status }) => status), [200, 200]);
        assertEquals(answers[1]!.headers.get("idempotent-replayed"), "true");
        assert(keys[0] !== null && keys[0] === keys[1]);
      } finally {
        await losing.close();
      }
    });
  }
});
