import * as v from "valibot";
import { quote } from "../../basics/errors/issue.ts";
import type { Shape } from "./shapes.ts";

/** One environment variable. The member of `Config` has the name that it has in `SETTINGS`. */
export interface Setting<T = unknown> {
  readonly variable: string;
  /** The value if the variable is not set. */
  readonly default: T;
  /** The default as an operator would write it; `none` when there is none. */
  readonly defaultText: string;
  /** What it is for, in one line of `rowgate serve --help`. */
  readonly help: string;
  readonly parse: (text: string) => { readonly value: T } | { readonly problem: string };
}

interface SettingOptions<D> {
  readonly default: D;
  readonly defaultText?: string;
  readonly help: string;
  /** True: an invalid value is not shown, since it may contain a password. */
  readonly secret?: boolean;
}

/** Makes a setting from its variable and the shape of its text. */
export function setting<T, const D extends T | undefined>(
  variable: string,
  shape: Shape<T>,
  { default: preset, defaultText = printDefault(preset), help, secret = false }: SettingOptions<D>,
): Setting<T | D> {
  function parse(text: string): ReturnType<Setting<T>["parse"]> {
    const parsed = v.safeParse(shape, text);
    if (parsed.success) return { value: parsed.output };
    const message = parsed.issues[0].message;
    return { problem: secret ? message : `${quote(text)} cannot be used, ${message}` };
  }

  return { variable, default: preset, defaultText, help, parse };
}

function printDefault(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}
