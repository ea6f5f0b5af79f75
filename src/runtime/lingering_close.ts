import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { LINGER_BYTES, LINGER_MS, PAUSE_MS } from "./linger.ts";

/**
 * Closes connections so that a response arrives that was given before the body was read: 413, for
 * instance, or 401. Many clients read nothing while they send. Where Node closes such a connection, what
 * they still send is answered with a reset, which deletes the response that they have not read. So only
 * the sending side is closed at first, and what arrives is thrown away, within bounds.
 * @see H28
 */
export function lingerOnClose(server: Server): void {
  const last = new WeakMap<Socket, IncomingMessage>();
  server.prependListener("request", (incoming) => last.set(incoming.socket, incoming));
  server.on("connection", (socket: Socket) => {
    const close = socket.destroySoon.bind(socket);
    let lingers = false;
    socket.destroySoon = () => {
      if (lingers) return;
      lingers = last.get(socket)?.complete === false;
      if (lingers) linger(socket);
      else close();
    };
  });
}

function linger(socket: Socket): void {
  const destroy = () => socket.destroy();
  const timer = setTimeout(destroy, LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.setTimeout(PAUSE_MS, destroy);
  socket.end();
  if (!socket.isPaused()) return discard(socket);
  // A body that is not read has paused it, and only the parser, which `discard` removes, starts it again.
  socket.once("resume", () => discard(socket));
  socket.resume();
}

/** No parser sees what arrives: on a connection that is closed there is no next request. */
function discard(socket: Socket): void {
  let left = LINGER_BYTES;
  socket.removeAllListeners("data");
  socket.on("data", ({ length }: Uint8Array) => {
    left -= length;
    if (left < 0) socket.destroy();
  });
}
