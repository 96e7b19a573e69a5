// Objects and lists: fields of fields, with entries that can be added, removed and moved.

import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from '../components/icons.tsx';
import type { PartProps } from './contract.ts';
import { pointer } from './issues.ts';
import type { Schema } from './merge.ts';
import { emptyObject, type FieldState, type Item, type KeyedItem, nextId, startState } from './state.ts';

type ObjectState = Extract<FieldState, { kind: 'object' }>;

export function ObjectControl(props: PartProps): JSX.Element | null {
  const { field, context, path, onChange, ancestors } = props;
  if (field.kind !== 'object') return null;
  const given: ObjectState =
    props.state?.kind === 'object' ? props.state : { ...(emptyObject as ObjectState), opened: false };
  const { entries: part } = field;
  const setEntries = (entries: readonly KeyedItem[]): void => onChange({ ...given, entries });
  return (
    <div class="fields">
      {field.properties.length === 0 && part === undefined && given.entries.length === 0 && (
        <p class="hint">There is nothing to enter.</p>
      )}
      {field.properties.map(({ name, schema, required }) => (
        <context.Field
          key={name}
          context={context}
          schema={schema}
          label={name}
          path={pointer(path, name)}
          required={required}
          state={given.fields.get(name)}
          ancestors={[...ancestors, field]}
          onChange={(next) => onChange({ ...given, fields: new Map([...given.fields, [name, next]]) })}
        />
      ))}
      {given.entries.map((entry, index) => (
        <MapEntry
          key={entry.id}
          {...props}
          entry={entry}
          number={index + 1}
          part={part ?? {}}
          onEntry={(next) => setEntries(given.entries.map((each) => (each.id === entry.id ? next : each)))}
          onRemove={() => setEntries(given.entries.filter((each) => each.id !== entry.id))}
        />
      ))}
      {part !== undefined && (
        <AddButton
          onAdd={() =>
            setEntries([...given.entries, { id: nextId(), key: '', state: startState(part, context.reader) }])
          }
        />
      )}
    </div>
  );
}

interface MapEntryProps extends PartProps {
  readonly entry: KeyedItem;
  readonly number: number;
  readonly part: Schema;
  readonly onEntry: (entry: KeyedItem) => void;
  readonly onRemove: () => void;
}

function MapEntry(props: MapEntryProps): JSX.Element {
  const { entry, number, part, context, path, ancestors, field, onEntry } = props;
  const id = useId();
  return (
    <fieldset class="entry" aria-label={`Entry ${number}`}>
      <div class="field">
        <div class="field-label">
          <label for={id}>Key</label>
        </div>
        <input
          id={id}
          type="text"
          autocomplete="off"
          value={entry.key}
          onInput={(event) => onEntry({ ...entry, key: event.currentTarget.value })}
        />
      </div>
      <context.Field
        context={context}
        schema={part}
        label="Value"
        path={pointer(path, entry.key)}
        required
        state={entry.state}
        ancestors={[...ancestors, field]}
        onChange={(state) => onEntry({ ...entry, state })}
      />
      <div class="entry-actions">
        <RemoveButton onRemove={props.onRemove} />
      </div>
    </fieldset>
  );
}

export function ListControl(props: PartProps): JSX.Element | null {
  const { field, state, context, path, label, onChange, ancestors } = props;
  if (field.kind !== 'list') return null;
  const items: readonly Item[] = state?.kind === 'list' ? state.items : [];
  const set = (next: readonly Item[]): void =>
    onChange(next.length === 0 && !props.required ? undefined : { kind: 'list', items: next });
  const options = field.distinct && field.items !== undefined ? context.reader.read(field.items) : undefined;
  if (options?.kind === 'enum' && field.prefix.length === 0)
    return <OptionBoxes {...props} items={items} onItems={set} />;
  const schemaAt = (index: number): Schema => field.prefix[index] ?? field.items ?? {};
  // The positions of a tuple are always there; those of a list are added.
  const missing = field.prefix.slice(items.length);
  const setAt = (index: number, next: FieldState): void => {
    const filled = [...items];
    for (let at = items.length; at <= index; at++) {
      filled.push({ id: nextId(), state: startState(schemaAt(at), context.reader) });
    }
    filled[index] = { id: (filled[index] as Item).id, state: next };
    set(filled);
  };
  const move = (index: number, by: number): void => {
    const next = [...items];
    const [moved] = next.splice(index, 1);
    next.splice(index + by, 0, moved as Item);
    set(next);
  };
  const control = (index: number, itemState: FieldState): JSX.Element => (
    <context.Field
      context={context}
      schema={schemaAt(index)}
      label={`${label === '' ? 'Item' : label} ${index + 1}`}
      path={pointer(path, index)}
      required
      state={itemState}
      ancestors={[...ancestors, field]}
      onChange={(next) => setAt(index, next)}
    />
  );
  return (
    <div class="fields">
      {items.map((item, index) => {
        const isFixed = index < field.prefix.length;
        return (
          <div class="entry" key={item.id}>
            {control(index, item.state)}
            {!isFixed && (
              <div class="entry-actions">
                <button
                  type="button"
                  class="icon-button"
                  aria-label="Move up"
                  disabled={index <= field.prefix.length}
                  onClick={() => move(index, -1)}
                >
                  <Icon name="up" />
                </button>
                <button
                  type="button"
                  class="icon-button"
                  aria-label="Move down"
                  disabled={index === items.length - 1}
                  onClick={() => move(index, 1)}
                >
                  <Icon name="down" />
                </button>
                <RemoveButton onRemove={() => set(items.filter((each) => each.id !== item.id))} />
              </div>
            )}
          </div>
        );
      })}
      {missing.map((_, offset) => {
        const index = items.length + offset;
        return (
          <div class="entry" key={`missing-${index}`}>
            {control(index, undefined)}
          </div>
        );
      })}
      {field.items !== undefined && (
        <AddButton
          onAdd={() => {
            const at = Math.max(items.length, field.prefix.length);
            setAt(at, startState(schemaAt(at), context.reader));
          }}
        />
      )}
    </div>
  );
}

interface OptionBoxesProps extends PartProps {
  readonly items: readonly Item[];
  readonly onItems: (items: readonly Item[]) => void;
}

/** A list of different options: a box for each. */
function OptionBoxes({ field, context, items, onItems }: OptionBoxesProps): JSX.Element | null {
  const options = field.kind === 'list' && field.items !== undefined ? context.reader.read(field.items) : undefined;
  if (options?.kind !== 'enum') return null;
  const isOption = (item: Item, index: number): boolean => item.state?.kind === 'option' && item.state.index === index;
  return (
    <div class="option-boxes">
      {options.options.map((option, index) => (
        <label key={index}>
          <input
            type="checkbox"
            checked={items.some((item) => isOption(item, index))}
            onChange={(event) => {
              const others = items.filter((item) => !isOption(item, index));
              const added = event.currentTarget.checked
                ? [{ id: nextId(), state: { kind: 'option', index } as const }]
                : [];
              onItems([...others, ...added]);
            }}
          />
          {option.label}
        </label>
      ))}
    </div>
  );
}

function AddButton({ onAdd }: { onAdd: () => void }): JSX.Element {
  return (
    <button type="button" class="small add" onClick={onAdd}>
      <Icon name="plus" /> Add
    </button>
  );
}

function RemoveButton({ onRemove }: { onRemove: () => void }): JSX.Element {
  return (
    <button type="button" class="icon-button" aria-label="Remove" onClick={onRemove}>
      <Icon name="close" />
    </button>
  );
}
