import type { App } from "../../src/app.ts";
import type { Recipe } from "./recipes.ts";

/** A response with its parsed body. */
export interface RecipeResponse {
  readonly status: number;
  readonly body: unknown;
}

/** Sends the request of a recipe, with the token of the documents unless it names another. */
export async function sendRecipe(app: App, recipe: Recipe): Promise<RecipeResponse> {
  const { method, path, body, raw, token = "TOKEN" } = recipe;
  const headers = new Headers(recipe.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  if (text !== undefined && !headers.has("content-type")) {
    headers.set("content-type", "application/json");
  }
  const url = new URL(path, "http://127.0.0.1:8080");
  const response = await app(new Request(url, { method, headers, ...(text && { body: text }) }));
  return { status: response.status, body: await response.json() };
}
