// A text field with the server's completions.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { JsonObject } from '../../api.ts';
import { Text } from '../components/basics.tsx';
import { revision } from '../lists.ts';
import { post } from '../server.ts';

interface CompletedInputProps {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly reference: JsonObject;
  readonly value: string;
  /** The values of the other fields, which completions may depend on. */
  readonly others: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

const completeAfterMs = 150;

export function CompletedInput(props: CompletedInputProps): JSX.Element {
  const { name, reference, value, onChange } = props;
  const id = useId();
  const values = useSignal<readonly string[]>([]);
  const hasFocus = useSignal(false);
  const newest = useRef(0);
  useEffect(() => {
    if (!hasFocus.value) return;
    const timer = setTimeout(() => {
      newest.current += 1;
      const own = newest.current;
      const request = { ref: reference, argument: { name, value }, context: props.others };
      post<{ values: readonly string[] }>('complete', { ...request, revision: revision.value }).then(
        (completed) => {
          if (own === newest.current) values.value = completed.values;
        },
        () => {
          // Without completions it is a plain text field.
        },
      );
    }, completeAfterMs);
    return () => clearTimeout(timer);
  }, [value, hasFocus.value]);
  return (
    <div class="field">
      <div class="field-label">
        <label for={id}>
          <Text text={props.title ?? name} />
        </label>
        {props.required === true && <span class="required">required</span>}
      </div>
      <input
        id={id}
        type="text"
        autocomplete="off"
        list={`${id}-values`}
        aria-describedby={props.description === undefined ? undefined : `${id}-hint`}
        value={value}
        onFocus={() => {
          hasFocus.value = true;
        }}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={`${id}-values`}>
        {values.value.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {props.description !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          <Text text={props.description} />
        </p>
      )}
    </div>
  );
}
