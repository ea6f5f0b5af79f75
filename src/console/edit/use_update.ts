import { useState } from "preact/hooks";
import type { ApiRequest, ApiResponse, Field, Row, Table, UpdateResult } from "../api.ts";
import { focusAfterUpdate } from "../frame/focus.ts";
import { isUnknown, type Preview, previewUpdate, readAgain, sendUpdate } from "./send_update.ts";
import { useOneStep } from "./use_one_step.ts";

/** What an update did, and the rows of its preview as they are now. */
interface Sent {
  readonly response: ApiResponse<UpdateResult>;
  readonly before: readonly Row[];
  readonly after: readonly Row[] | undefined;
}

/** An update of a form: its preview, and what it did. */
export interface Update {
  readonly busy: boolean;
  /** The preview of the request as it is now; undefined if another one was tried, or none. */
  readonly preview: Preview | undefined;
  readonly sent: Sent | undefined;
  readonly tryOut: () => Promise<void>;
  readonly send: (preview: Preview) => Promise<void>;
}

interface UpdateOptions {
  readonly token: string;
  readonly table: Table;
  readonly fields: readonly Field[];
  readonly request: ApiRequest;
  readonly filters: Readonly<Record<string, unknown>>;
  /** Called when rows were changed. */
  readonly onChanged: () => void;
}

/** Previews an update and sends it, one at a time. */
export function useUpdate(options: UpdateOptions): Update {
  const { token, table, fields, request, filters, onChanged } = options;
  const [preview, setPreview] = useState<Preview>();
  const [sent, setSent] = useState<Sent>();
  const [busy, runOnce] = useOneStep(() => setSent(undefined));

  const tryOut = () =>
    runOnce(async () => {
      setPreview(
        await previewUpdate(token, {
          ...{ request, filters },
          table: table.name,
          fields,
          primaryKey: table.primary_key,
        }),
      );
      // The button was disabled meanwhile; what is sent is chosen by another one.
      focusAfterUpdate('.update-form [aria-invalid="true"], .update-form [type=submit]');
    });

  const send = (previewed: Preview) =>
    runOnce(async () => {
      const response = await sendUpdate(token, previewed);
      const before = previewed.page?.records ?? [];
      const after = response.body && await readAgain(token, {
        table: table.name,
        primaryKey: table.primary_key,
        rows: before,
      });
      setSent({ response, before, after });
      // An update whose answer was lost can be sent again: its key is the same.
      if (!isUnknown(response)) setPreview(undefined);
      if (response.body !== undefined) onChanged();
      // The button that sent it is gone, or was disabled meanwhile.
      focusAfterUpdate(".counts .danger, .update-form [type=submit]");
    });

  const isOfRequest = preview !== undefined && isSame(preview.request, request);
  return { busy, preview: isOfRequest ? preview : undefined, sent, tryOut, send };
}

function isSame(one: ApiRequest, other: ApiRequest): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
