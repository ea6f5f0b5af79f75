import { OPERATOR_LABELS } from "../describe/reference/operator_texts.ts";
import type { Operator } from "../request/operators.ts";
import type { Field } from "./api.ts";
import { type Issue, IssueList } from "./error_message.tsx";
import {
  type ConditionNode,
  countValues,
  type FilterNode,
  findRoom,
  fitValues,
  type GroupNode,
  isPatternOperator,
  makeCondition,
  makeGroup,
  type NodePlace,
} from "./filter_tree.ts";
import { focusAfterUpdate, focusAround } from "./frame/focus.ts";
import { ValueInput } from "./value_input.tsx";

/** An issue with its place in the filter; undefined: it is about something else. */
export interface PlacedIssue extends Issue {
  readonly place: NodePlace | undefined;
}

/** What all groups and conditions of one filter share. */
export interface FilterContext {
  readonly root: GroupNode;
  readonly fields: ReadonlyMap<string, Field>;
  readonly issues: readonly PlacedIssue[];
  readonly change: (id: number, node: FilterNode) => void;
  readonly remove: (id: number) => void;
}

interface GroupEditorProps {
  readonly node: GroupNode;
  /** 1 for the outermost group. */
  readonly depth: number;
  readonly context: FilterContext;
}

/** Edits a group: whether all or any of its items must match, and the items. */
export function GroupEditor({ node, depth, context }: GroupEditorProps) {
  const { root, fields, change, remove } = context;
  const room = findRoom(root, depth);
  const [first] = fields.values();
  const issues = context.issues.filter(({ place }) => place?.id === node.id);
  const add = (item: FilterNode) => {
    change(node.id, { ...node, items: [...node.items, item] });
    focusAfterUpdate(`[data-node="${item.id}"] :is(select, button)`);
  };
  const nested = {
    ...context,
    remove: (id: number) => {
      remove(id);
      focusAfterUpdate(`[data-node="${node.id}"] > .adding > .add`);
    },
  };
  return (
    <div
      class={`group ${node.combine}${issues.length > 0 ? " wrong" : ""}`}
      role="group"
      aria-label={`Group at depth ${depth}: ${node.combine}`}
      data-node={node.id}
    >
      <div class="group-head">
        <CombineSwitch node={node} onChange={(combine) => change(node.id, { ...node, combine })} />
        <span class="small muted">{explainGroup(node)}</span>
        {depth > 1 && (
          <button
            type="button"
            class="quiet"
            aria-label="Remove the group"
            onClick={() => remove(node.id)}
          >
            ✕
          </button>
        )}
      </div>
      {node.items.map((item) =>
        item.kind === "group"
          ? <GroupEditor key={item.id} node={item} depth={depth + 1} context={nested} />
          : <ConditionEditor key={item.id} node={item} context={nested} />
      )}
      <IssueList id={`problem-${node.id}`} issues={issues} />
      <div class="adding">
        <button
          type="button"
          class="add"
          disabled={!room.condition || first === undefined}
          onClick={() => add(makeCondition(first!))}
        >
          + Condition
        </button>
        {room.group && (
          <button
            type="button"
            class="add"
            onClick={() => add(makeGroup(node.combine === "and" ? "or" : "and"))}
          >
            + Group
          </button>
        )}
      </div>
    </div>
  );
}

function explainGroup({ combine, items }: GroupNode): string {
  if (items.length === 0) return combine === "and" ? "matches every row" : "matches no row";
  return combine === "and" ? "all of these must match" : "at least one of these must match";
}

interface CombineSwitchProps {
  readonly node: GroupNode;
  readonly onChange: (combine: "and" | "or") => void;
}

function CombineSwitch({ node, onChange }: CombineSwitchProps) {
  return (
    <span class="segments" role="radiogroup" aria-label="Combine with">
      {(["and", "or"] as const).map((combine) => (
        <label key={combine}>
          <input
            type="radio"
            name={`combine-${node.id}`}
            checked={node.combine === combine}
            onChange={() => onChange(combine)}
          />
          <span>{combine}</span>
        </label>
      ))}
    </span>
  );
}

interface ConditionProps {
  readonly node: ConditionNode;
  readonly context: FilterContext;
}

function ConditionEditor({ node, context }: ConditionProps) {
  const { fields, change, remove } = context;
  const field = fields.get(node.field);
  const issues = context.issues.filter(({ place }) => place?.id === node.id);
  const problemId = `problem-${node.id}`;
  const update = (part: Partial<ConditionNode>) => change(node.id, { ...node, ...part });
  const isWrong = (part: string) =>
    issues.some(({ place }) => place?.part === part || place?.part === "");
  const chooseField = (name: string) => {
    const next = fields.get(name)!;
    const op = next.operators.includes(node.op) ? node.op : next.operators[0] ?? "is_null";
    const same = next.type === field?.type;
    update({ field: name, op, values: fitValues(op, same ? node.values : []) });
  };
  const describedBy = issues.length > 0 ? problemId : undefined;
  return (
    <div class={`condition${issues.length > 0 ? " wrong" : ""}`} data-node={node.id}>
      <select
        class="pick-field"
        aria-label="Column"
        aria-invalid={isWrong("field")}
        aria-describedby={describedBy}
        value={node.field}
        onChange={(event) => chooseField(event.currentTarget.value)}
      >
        {[...fields.values()].map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </select>
      <select
        class="pick-operator"
        aria-label="Operator"
        aria-invalid={isWrong("op")}
        aria-describedby={describedBy}
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
      <ConditionValues node={node} context={context} />
      <span class="type muted" aria-hidden="true">{field?.type}</span>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove the condition on ${node.field}`}
        onClick={() => remove(node.id)}
      >
        ✕
      </button>
      <IssueList id={problemId} issues={issues} />
    </div>
  );
}

const INPUTS = '.value :is(input:not([aria-hidden="true"]), select)';

function ConditionValues({ node, context }: ConditionProps) {
  const isPattern = isPatternOperator(node.op);
  const isText = isPattern || node.op === "starts_with" || node.op === "contains";
  const field = isText ? undefined : context.fields.get(node.field);
  const issues = context.issues.filter(({ place }) =>
    place?.id === node.id && (place.part === "value" || place.part === "")
  );
  const isList = countValues(node.op) === undefined;
  const setValues = (values: readonly string[]) => context.change(node.id, { ...node, values });
  const several = node.values.length > 1;
  return (
    <span class="values">
      {node.values.map((value, index) => (
        <span class="value" key={index}>
          {index > 0 && !isList && <span class="muted">and</span>}
          <ValueInput
            field={field}
            value={value}
            label={several || isList ? `Value ${index + 1}` : isPattern ? "Pattern" : "Value"}
            invalid={issues.some(({ place }) => (place?.index ?? index) === index)}
            describedBy={`problem-${node.id}`}
            onChange={(text) => setValues(node.values.with(index, text))}
            {...(isList && {
              onPasteMany: (pasted: readonly string[]) =>
                setValues(node.values.toSpliced(index, 1, ...pasted)),
            })}
          />
          {isList && several && (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove value ${index + 1}`}
              onClick={({ currentTarget }) => {
                focusAround(currentTarget.closest(".values"), INPUTS);
                setValues(node.values.toSpliced(index, 1));
              }}
            >
              ✕
            </button>
          )}
        </span>
      ))}
      {isList && (
        <button
          type="button"
          class="quiet"
          onClick={({ currentTarget }) => {
            focusAround(currentTarget.closest(".values"), INPUTS);
            setValues([...node.values, ""]);
          }}
        >
          + value
        </button>
      )}
    </span>
  );
}
