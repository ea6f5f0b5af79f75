/**
 * What other programs import: `openService` gives the handler and what it stands on; `createApp` makes
 * the handler from parts of one's own.
 */
export { type App, type Connection, createApp, type Dependencies } from "./app.ts";
export {
  type OpenedService,
  openService,
  type OpenServiceOptions,
} from "./cli/serve/open_service.ts";
