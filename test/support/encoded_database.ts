import postgres from "postgres";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** Makes an empty database with an encoding other than UTF8. */
export async function createEncodedDatabase(encoding: string): Promise<TestDatabase> {
  const test = await createTestDatabase("real", "empty");
  const url = new URL(test.url!);
  const name = url.pathname.slice(1);
  const server = postgres(new URL("/postgres", url).href, { max: 1, onnotice: () => {} });
  try {
    await server.unsafe(`drop database ${name} with (force)`);
    await server.unsafe(
      `create database ${name} template template0 encoding '${encoding}' locale 'C'`,
    );
  } finally {
    await server.end();
  }
  return test;
}
