import type { Operator } from "../request/operators.ts";
import { countValues, OPERATOR_LABELS } from "./field.ts";
import { type ConditionNode, fitValues } from "./filter_tree.ts";
import type { EditorProps } from "./group_editor.tsx";
import { ValueInput } from "./value_input.tsx";

/** One condition: column, operator of its type, values. */
export function ConditionEditor(
  { node, editor }: { readonly node: ConditionNode; readonly editor: EditorProps },
) {
  const { fields, findings, change, remove } = editor;
  const field = fields.get(node.field);
  const wrong = findings.filter(({ place }) => place?.id === node.id);
  const problemId = `problem-${node.id}`;
  const update = (part: Partial<ConditionNode>) => change(node.id, { ...node, ...part });
  const isWrong = (part: string) =>
    wrong.some(({ place }) => place?.part === part || place?.part === "");
  const chooseField = (name: string) => {
    const next = fields.get(name)!;
    const op = next.operators.includes(node.op) ? node.op : next.operators[0] ?? "is_null";
    const same = next.type === field?.type;
    update({ field: name, op, values: fitValues(op, same ? node.values : []) });
  };
  const described = wrong.length > 0 ? problemId : undefined;
  return (
    <div class={`condition${wrong.length > 0 ? " wrong" : ""}`} data-node={node.id}>
      <select
        class="pick-field"
        aria-label="Column"
        aria-invalid={isWrong("field")}
        aria-describedby={described}
        value={node.field}
        onChange={(event) => chooseField(event.currentTarget.value)}
      >
        {[...fields.values()].map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </select>
      <select
        class="pick-operator"
        aria-label="Operator"
        aria-invalid={isWrong("op")}
        aria-describedby={described}
        value={node.op}
        onChange={(event) => {
          const op = event.currentTarget.value as Operator;
          update({ op, values: fitValues(op, node.values) });
        }}
      >
        {field?.operators.map((op) => (
          <option key={op} value={op} title={op}>{OPERATOR_LABELS[op]}</option>
        ))}
      </select>
      <Values node={node} editor={editor} />
      <span class="type muted" aria-hidden="true">{field?.type}</span>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove the condition on ${node.field}`}
        onClick={() => remove(node.id)}
      >
        ✕
      </button>
      {wrong.length > 0 && (
        <p class="problem" id={problemId}>
          {wrong.map(({ path, message }) => (
            <span key={path}>
              <code>{path}</code> {message}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

function Values(
  { node, editor }: { readonly node: ConditionNode; readonly editor: EditorProps },
) {
  const pattern = node.op === "like" || node.op === "not_like";
  const field = pattern ? undefined : editor.fields.get(node.field);
  const wrong = editor.findings.filter(({ place }) => place?.id === node.id)
    .filter(({ place }) => place?.part === "value" || place?.part === "");
  const list = countValues(node.op) === undefined;
  const put = (values: readonly string[]) => editor.change(node.id, { ...node, values });
  const several = node.values.length > 1;
  return (
    <span class="values">
      {node.values.map((value, at) => (
        <span class="value" key={at}>
          {at > 0 && !list && <span class="muted">and</span>}
          <ValueInput
            field={field}
            value={value}
            label={several || list ? `Value ${at + 1}` : pattern ? "Pattern" : "Value"}
            invalid={wrong.some(({ place }) => (place?.index ?? at) === at)}
            describedBy={`problem-${node.id}`}
            onChange={(text) => put(node.values.with(at, text))}
            {...(list && {
              onPasteMany: (pasted: readonly string[]) =>
                put(node.values.toSpliced(at, 1, ...pasted)),
            })}
          />
          {list && several && (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove value ${at + 1}`}
              onClick={() => put(node.values.toSpliced(at, 1))}
            >
              ✕
            </button>
          )}
        </span>
      ))}
      {list && (
        <button type="button" class="quiet" onClick={() => put([...node.values, ""])}>
          + value
        </button>
      )}
    </span>
  );
}
