import type { TestDatabase } from "./database.ts";

/**
 * Makes the function `raise_in_c(code)`: it fails as C code does, such as an engine's, an extension's or
 * that of a foreign server, and not with PL/pgSQL's RAISE, whose codes a function merely chose.
 */
export async function createRaiseInC({ admin, url }: TestDatabase): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(url!);
  const [host, user, secret, name] = [hostname, username, password, pathname.slice(1)]
    .map(decodeURIComponent);
  const connection = `host=${host} port=${port} user=${user} dbname=${name}` +
    (secret === "" ? "" : ` password=${secret}`);
  await admin.unsafe(`
    create extension dblink;
    create function raise_in_c(code text) returns void language plpgsql security definer as $f$
      begin perform public.dblink_exec('${connection}', format(
        $q$do $d$ begin raise exception 'a text of Postgres' using errcode = %L; end $d$$q$, code));
      end $f$;
    grant execute on function raise_in_c to public`);
}
