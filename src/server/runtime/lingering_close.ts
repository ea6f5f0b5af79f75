import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { LINGER_BYTES, LINGER_MS, LINGER_PAUSE_MS } from "./linger.ts";

/** How often the bytes after a response are counted. */
const COUNT_MS = 10;

/**
 * Closes connections so that a response arrives even if the body was not read, such as 413 or 401.
 * Many clients read nothing while they send. If Node closes such a connection, what they still send
 * is answered with a reset, which deletes the unread response. So at first only the sending side is
 * closed, and what arrives is discarded, within limits.
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
  socket.setTimeout(LINGER_PAUSE_MS, destroy);
  socket.end();
  if (!socket.isPaused()) return discard(socket);
  // An unread body has paused the socket, and only the parser, which `discard` removes, resumes it.
  socket.once("resume", () => discard(socket));
  socket.resume();
}

/** Discards what arrives without a parser, since a closed connection has no next request. */
function discard(socket: Socket): void {
  socket.removeAllListeners("data");
  socket.on("data", () => {});
}

/**
 * Closes the connection if more of a body arrives after the response than may be discarded. Node
 * drops such bytes without an event, for half a second, so only the connection's own counter includes
 * them all.
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
