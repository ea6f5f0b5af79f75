// Rowgate in your own Node server: npm install rowgate @hono/node-server; node examples/node.mjs
import { getRequestListener } from "@hono/node-server";
import { createServer } from "node:http";
import process from "node:process";
import { openService } from "rowgate";

const { app, close } = await openService({ environment: process.env });
const rowgate = getRequestListener((request, { incoming }) =>
  app(request, { peer: incoming.socket.remoteAddress, httpVersion: incoming.httpVersion })
);

const server = createServer((request, response) => {
  if (request.url.startsWith("/integration/")) rowgate(request, response);
  else response.end("a page of your own\n");
});
server.listen(Number(process.env.PORT ?? 8080), () => {
  console.log(`Listening on http://localhost:${server.address().port}/`);
});

process.on("SIGTERM", () => {
  server.close(() => close());
  server.closeIdleConnections();
});
