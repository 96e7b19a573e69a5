// The controls of one field: label, input, description, issues. Parts of objects, lists and choices are fields again.

import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Text } from '../components/basics.tsx';
import type { ControlProps, PartProps } from './contract.ts';
import type { Field } from './field.ts';
import { ListControl, ObjectControl } from './group-controls.tsx';
import { Input } from './input.tsx';
import { issuesAt, issuesWithin } from './issues.ts';
import { type FieldState, hasContent, startState } from './state.ts';

/** Nested groups that are open from the start. */
const openLevels = 5;

export function FieldControl(props: ControlProps): JSX.Element {
  const { context, schema, path, state, ancestors, required } = props;
  const id = useId();
  const field = context.reader.read(schema);
  const label = field.title ?? props.label;
  const found = context.isShown(path) ? issuesAt(context.issues, path) : [];
  const isGroup = field.kind === 'object' || field.kind === 'list';
  const isRecursive = ancestors.includes(field) || ancestors.length > openLevels;
  const ids = { input: `${id}-input`, hint: `${id}-hint`, error: `${id}-error` };
  const hint = hintOf(field, required, state);
  const describedBy = [hint !== undefined && ids.hint, found.length > 0 && ids.error].filter(Boolean).join(' ');
  const part: PartProps = {
    ...props,
    field,
    label,
    ids,
    describedBy: describedBy === '' ? undefined : describedBy,
    isInvalid: found.length > 0,
    onChange: (next) => {
      context.touch(path);
      props.onChange(next);
    },
  };
  const footer = (
    <>
      {hint !== undefined && (
        <p class="hint" id={ids.hint}>
          <Text text={hint} />
        </p>
      )}
      {found.length > 0 && (
        <p class="field-error" id={ids.error}>
          {found.map((issue) => issue.message).join(' ')}
        </p>
      )}
    </>
  );
  const isClosed = isRecursive && !hasContent(state) && (isGroup || field.kind === 'choice');
  if (isClosed) {
    const open = (): void => part.onChange(startState(schema, context.reader) ?? { kind: 'json', text: '' });
    return (
      <Group part={part} footer={footer}>
        <button type="button" class="small" onClick={open}>
          Show {label}
        </button>
      </Group>
    );
  }
  if (state?.kind === 'json' || field.kind === 'json') return <JsonPart part={part} footer={footer} />;
  if (isGroup) {
    const parts = state?.kind === 'null' ? null : group(part);
    if (label === '') return <>{parts}</>;
    return (
      <Group part={part} footer={footer}>
        {parts}
      </Group>
    );
  }
  if (field.kind === 'choice') return <Choice part={part} footer={footer} />;
  return (
    <Labelled part={part} footer={footer}>
      <Input {...part} />
    </Labelled>
  );
}

const group = (part: PartProps): JSX.Element =>
  part.field.kind === 'object' ? <ObjectControl {...part} /> : <ListControl {...part} />;

function hintOf(field: Field, required: boolean, state: FieldState): string | undefined {
  const parts: string[] = [];
  if (field.description !== undefined) parts.push(field.description);
  if (field.defaultText !== undefined) {
    parts.push(`Default: ${field.defaultText}${required || state !== undefined ? '' : ' (not sent)'}`);
  }
  return parts.length === 0 ? undefined : parts.join(' · ');
}

/** Fields that belong together, under their name. */
function Group({ part, footer, children }: LabelledProps): JSX.Element {
  return (
    <fieldset class="group" aria-describedby={part.describedBy}>
      <legend>
        <Text text={part.label} />
      </legend>
      <Marks part={part} />
      {footer}
      {children}
    </fieldset>
  );
}

/** A label, its marks, a control and what is below it. */
function Labelled({ part, footer, children }: LabelledProps): JSX.Element {
  const isBox = part.field.kind === 'boolean' && part.state?.kind !== 'json';
  const label = (
    <label for={part.ids.input}>
      <Text text={part.label === '' ? 'Value' : part.label} />
    </label>
  );
  return (
    <div class={isBox ? 'field box' : 'field'}>
      <div class="field-label">
        {isBox && part.state?.kind !== 'null' && children}
        {label}
        <Marks part={part} />
      </div>
      {!isBox && part.state?.kind !== 'null' && children}
      {footer}
    </div>
  );
}

interface LabelledProps {
  readonly part: PartProps;
  readonly footer: ComponentChildren;
  readonly children: ComponentChildren;
}

/** What kind of value it is, whether it must be given, and the box for null. */
function Marks({ part }: { part: PartProps }): JSX.Element {
  const { field, required, state, onChange, context, schema } = part;
  return (
    <span class="marks">
      <span class="kind">{kindText(field)}</span>
      {required && part.label !== '' && <span class="required">required</span>}
      {field.nullable && (
        <label class="null-box">
          <input
            type="checkbox"
            checked={state?.kind === 'null'}
            onChange={(event) => {
              if (event.currentTarget.checked) onChange({ kind: 'null' });
              else onChange(required ? startState(schema, context.reader) : undefined);
            }}
          />
          null
        </label>
      )}
      {field.kind === 'boolean' && !required && state?.kind === 'boolean' && (
        <button type="button" class="link" onClick={() => onChange(undefined)}>
          Clear
        </button>
      )}
    </span>
  );
}

function kindText(field: Field): string {
  if (field.kind === 'number') return field.integer ? 'integer' : 'number';
  if (field.kind === 'string') return field.format ?? 'string';
  if (field.kind === 'choice') return 'one of';
  if (field.kind === 'json') return 'JSON';
  if (field.kind === 'object' && field.properties.length === 0) return 'map';
  if (field.kind === 'list') return field.prefix.length > 0 ? 'tuple' : 'list';
  return field.kind;
}

/** A part without a form, or a value that does not fit it. */
function JsonPart({ part, footer }: { part: PartProps; footer: ComponentChildren }): JSX.Element {
  const { state, field, onChange, ids } = part;
  const issues = part.context.isShown(part.path) ? issuesWithin(part.context.issues, part.path) : [];
  return (
    <Labelled part={part} footer={footer}>
      <textarea
        id={ids.input}
        class="code"
        rows={3}
        spellcheck={false}
        placeholder="JSON"
        aria-describedby={part.describedBy}
        aria-invalid={issues.length > 0}
        value={state?.kind === 'json' ? state.text : ''}
        onInput={(event) => {
          const text = event.currentTarget.value;
          onChange(text === '' ? undefined : { kind: 'json', text });
        }}
      />
      {field.kind !== 'json' && (
        <button type="button" class="small" onClick={() => onChange(undefined)}>
          Use the form
        </button>
      )}
    </Labelled>
  );
}

/** One option per branch, then the fields of the chosen one. */
function Choice({ part, footer }: { part: PartProps; footer: ComponentChildren }): JSX.Element {
  const { field, state, onChange, context, required, ids } = part;
  const branches = field.kind === 'choice' ? field.branches : [];
  const chosen = state?.kind === 'choice' ? state : undefined;
  const branch = chosen && branches[chosen.index];
  const select = (value: string): void => {
    if (value === '') return onChange(undefined);
    if (value === 'null') return onChange({ kind: 'null' });
    const index = Number(value);
    const schema = branches[index]?.schema ?? {};
    onChange({ kind: 'choice', index, state: startState(schema, context.reader) });
  };
  const value = state?.kind === 'null' ? 'null' : chosen === undefined ? '' : String(chosen.index);
  return (
    <div class="field choice">
      <div class="field-label">
        <label for={ids.input}>
          <Text text={part.label === '' ? 'Type' : `${part.label} type`} />
        </label>
        <span class="marks">{required && part.label !== '' && <span class="required">required</span>}</span>
      </div>
      <select
        id={ids.input}
        aria-describedby={part.describedBy}
        aria-invalid={part.isInvalid}
        value={value}
        onChange={(event) => select(event.currentTarget.value)}
      >
        <option value="">{required ? 'Choose…' : '(not set)'}</option>
        {branches.map((each, index) => (
          <option key={each.label} value={String(index)}>
            {each.label}
          </option>
        ))}
        {field.nullable && <option value="null">null</option>}
      </select>
      {footer}
      {branch !== undefined && chosen !== undefined && (
        <FieldControl
          key={chosen.index}
          context={context}
          schema={branch.schema}
          label={part.label}
          path={part.path}
          required
          state={chosen.state}
          ancestors={[...part.ancestors, field]}
          onChange={(next) => onChange({ ...chosen, state: next })}
        />
      )}
    </div>
  );
}
