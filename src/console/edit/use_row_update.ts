import { useState } from "preact/hooks";
import type { ApiRequest, ApiResponse, UpdateResult } from "../api.ts";
import { focusAfterUpdate } from "../frame/focus.ts";
import { isUnknown, type Preview, previewUpdate, sendUpdate } from "./send_update.ts";
import { useOneStep } from "./use_one_step.ts";

/** An update of one row: first its preview, then what is saved. */
export interface RowUpdate {
  readonly busy: boolean;
  readonly preview: Preview | undefined;
  /** The last answer, if it was an error. */
  readonly failed: ApiResponse<UpdateResult> | undefined;
  /** What was done last; empty if nothing was, or something was typed since. */
  readonly done: string;
  readonly tryOut: () => Promise<void>;
  readonly save: (preview: Preview) => Promise<void>;
  /** Leaves the preview. */
  readonly goBack: () => void;
  /** Forgets the last error. */
  readonly forget: () => void;
  /** Says that something was typed. */
  readonly touch: () => void;
}

interface RowUpdateOptions {
  readonly token: string;
  readonly request: ApiRequest;
  /** What was done with the row before. */
  readonly done: string;
  /** Where the row is found, and its version. */
  readonly where: Omit<Parameters<typeof previewUpdate>[1], "request">;
  /** Called when the row was saved; what was done is said after it. */
  readonly onSaved: () => Promise<void>;
}

/** What a failed step leaves to be done. */
const PROBLEM = '.row-fields :is([aria-invalid="true"], .row-conflict button)';

/** Previews an update of a row and saves it, one step at a time. */
export function useRowUpdate(
  { token, request, where, onSaved, done: before }: RowUpdateOptions,
): RowUpdate {
  const [preview, setPreview] = useState<Preview>();
  const [failed, setFailed] = useState<ApiResponse<UpdateResult>>();
  const [done, setDone] = useState(before);
  const [busy, runOnce] = useOneStep(() => {
    setFailed(undefined);
    setDone("");
  });

  const tryOut = () =>
    runOnce(async () => {
      const tried = await previewUpdate(token, { request, ...where });
      if (tried.response.body === undefined) {
        setFailed(tried.response);
        return focusAfterUpdate(PROBLEM);
      }
      setPreview(tried);
      focusAfterUpdate(".drawer-foot .primary");
    });

  const save = (previewed: Preview) =>
    runOnce(async () => {
      const sent = await sendUpdate(token, previewed);
      if (sent.body === undefined) {
        setFailed(sent);
        if (!isUnknown(sent)) setPreview(undefined);
        return focusAfterUpdate(PROBLEM);
      }
      setPreview(undefined);
      await onSaved();
      setDone(sent.body.updated === 0 ? "Nothing had to be changed." : "Saved.");
      focusAfterUpdate(".drawer-head .close");
    });

  function goBack(): void {
    setPreview(undefined);
    focusAfterUpdate(".row-field.touched :is(input, select, textarea)");
  }

  const forget = () => setFailed(undefined);
  return { busy, preview, failed, done, tryOut, save, goBack, forget, touch: () => setDone("") };
}
