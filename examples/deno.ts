// Rowgate in your own Deno server: deno run --allow-net --allow-env examples/deno.ts
import { openService } from "rowgate";

const { app, close } = await openService({ environment: Deno.env.toObject() });

const server = Deno.serve({ port: Number(Deno.env.get("PORT") ?? 8080) }, (request, info) => {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith("/integration/")) return new Response("a page of your own\n");
  return app(request, { peer: info.remoteAddr.hostname });
});

Deno.addSignalListener("SIGTERM", async () => {
  await server.shutdown();
  await close();
});
