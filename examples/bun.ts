// Rowgate in your own Bun server: bun examples/bun.ts
import { openService } from "rowgate";

const { app, close } = await openService({ environment: process.env });

const server = Bun.serve({
  port: process.env.PORT ?? 8080,
  idleTimeout: 255,
  routes: {
    "/integration/*": (request, server) =>
      app(request, { peer: server.requestIP(request)?.address }),
    "/*": () => new Response("a page of your own\n"),
  },
});
console.log(`Listening on ${server.url}`);

process.on("SIGTERM", async () => {
  await server.stop();
  await close();
  process.exit();
});
