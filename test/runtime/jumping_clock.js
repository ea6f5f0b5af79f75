// Loaded before the service: the clock of this process goes an hour ahead and an hour back, again and
// again, as on a machine whose time is set. `performance.now()` stays what it is.
const HOUR_MS = 3_600_000;
const now = Date.now.bind(Date);
const jump = () => Math.floor(performance.now() / 20) % 2 === 0 ? 2 * HOUR_MS : -2 * HOUR_MS;
Date.now = () => now() + jump();
globalThis.Date = class extends Date {
  constructor(...values) {
    super(...(values.length === 0 ? [now() + jump()] : values));
  }
  static now() {
    return now() + jump();
  }
};
