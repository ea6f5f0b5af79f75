import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { LINGER_BYTES, LINGER_MS, PAUSE_MS } from "./linger.ts";

/** How often the bytes are counted that come after a response. */
const COUNT_MS = 10;

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
  socket.removeAllListeners("data");
  socket.on("data", () => {});
}

/**
 * Closes the connection when more comes of a body that has its response than may be thrown away. Node
 * drops such bytes without an event, and the adapter lets it do so for half a second, so only the
 * connection's own count has them all.
 * @see H28
 */
export function limitDiscarded(incoming: Pick<IncomingMessage, "socket" | "complete">): void {
  const { socket } = incoming;
  const most = socket.bytesRead + LINGER_BYTES;
  const timer = setInterval(() => {
    if (incoming.complete || socket.destroyed) clearInterval(timer);
    else if (socket.bytesRead > most) socket.destroy();
  }, COUNT_MS);
}
