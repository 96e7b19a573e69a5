// The control of a single value.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { PartProps } from './contract.ts';

const inputTypes: Readonly<Record<string, 'date' | 'password'>> = { date: 'date', password: 'password' };
const placeholders: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'name@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

export function Input(props: PartProps): JSX.Element | null {
  const { field, state, required, onChange, ids, isInvalid } = props;
  const common = { id: ids.input, 'aria-describedby': props.describedBy, 'aria-invalid': isInvalid } as const;
  switch (field.kind) {
    case 'string': {
      const text = state?.kind === 'text' ? state.text : '';
      const change = (next: string): void =>
        onChange(next === '' && !required ? undefined : { kind: 'text', text: next });
      if (field.lines || text.includes('\n')) {
        return (
          <textarea
            {...common}
            rows={Math.min(8, text.split('\n').length)}
            class="one-line"
            spellcheck={false}
            value={text}
            onInput={(event) => change(event.currentTarget.value)}
          />
        );
      }
      return (
        <input
          {...common}
          // The types of inputs with and without a list differ, so only one of them can be named here.
          type={(field.secret ? 'password' : (inputTypes[field.format ?? ''] ?? 'text')) as 'password'}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholders[field.format ?? '']}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
        />
      );
    }
    case 'number':
      // Text, so that large integers and unfinished numbers stay as they are typed.
      return (
        <input
          {...common}
          type="text"
          inputMode={field.integer ? 'numeric' : 'decimal'}
          autocomplete="off"
          value={state?.kind === 'number' ? state.text : ''}
          onInput={(event) => {
            const text = event.currentTarget.value.trim();
            onChange(text === '' ? undefined : { kind: 'number', text });
          }}
        />
      );
    case 'boolean':
      return <Box {...props} />;
    case 'enum':
      return (
        <select
          {...common}
          value={state?.kind === 'option' ? String(state.index) : required && field.options.length === 1 ? '0' : ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            onChange(value === '' ? undefined : { kind: 'option', index: Number(value) });
          }}
        >
          {!(required && field.options.length === 1) && <option value="">{required ? 'Choose…' : '(not set)'}</option>}
          {field.options.map((option, index) => (
            <option key={index} value={String(index)}>
              {option.label}
            </option>
          ))}
        </select>
      );
    default:
      return (
        <output {...common} class="fixed">
          null
        </output>
      );
  }
}

/** A box with three states: an optional boolean that was not touched is not sent. */
function Box({ state, required, onChange, ids, describedBy, isInvalid }: PartProps): JSX.Element {
  const element = useRef<HTMLInputElement>(null);
  const isUnset = state === undefined && !required;
  useEffect(() => {
    if (element.current !== null) element.current.indeterminate = isUnset;
  }, [isUnset]);
  return (
    <input
      ref={element}
      id={ids.input}
      type="checkbox"
      aria-describedby={describedBy}
      aria-invalid={isInvalid}
      checked={state?.kind === 'boolean' && state.value}
      onChange={(event) => onChange({ kind: 'boolean', value: event.currentTarget.checked })}
    />
  );
}
