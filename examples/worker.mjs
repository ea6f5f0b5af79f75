// Rowgate as a module with a fetch handler, as workers use it:
// deno serve --allow-net --allow-env examples/worker.mjs, or bun examples/worker.mjs
import process from "node:process";
import { openService } from "rowgate";

let opening;

/** Opens the service with the first request, and tries again with the next one if that fails. */
function open() {
  opening ??= openService({ environment: process.env }).catch((error) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/integration/")) return new Response("a page of your own\n");
    const { app } = await open();
    return app(request);
  },
};
