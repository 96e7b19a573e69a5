// A form of named texts, for prompts and URI templates, and the same as JSON.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { JsonObject } from '../../api.ts';
import { Problem, Tabs } from '../components/basics.tsx';
import { CompletedInput } from './completed-input.tsx';

export type FormValues = Readonly<Record<string, string>>;

export interface NamedText {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

interface ValuesFormProps {
  readonly fields: readonly NamedText[];
  readonly reference: JsonObject;
  readonly values: FormValues;
  readonly onChange: (values: FormValues) => void;
}

export function ValuesForm({ fields, reference, values, onChange }: ValuesFormProps): JSX.Element {
  /** The text while it is edited as JSON. */
  const json = useSignal<string | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const edit = (next: string): void => {
    json.value = next;
    try {
      onChange(parse(next));
      problem.value = undefined;
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  const formTab = (): JSX.Element => (
    <div class="fields">
      {fields.length === 0 && <p class="hint">It takes no arguments.</p>}
      {fields.map((field) => (
        <CompletedInput
          key={field.name}
          {...field}
          reference={reference}
          value={values[field.name] ?? ''}
          others={Object.fromEntries(Object.entries(values).filter(([name]) => name !== field.name))}
          onChange={(value) =>
            onChange(Object.fromEntries(Object.entries({ ...values, [field.name]: value }).filter(isGiven)))
          }
        />
      ))}
    </div>
  );
  const jsonTab = (): JSX.Element => (
    <textarea
      class="code"
      aria-label="Arguments as JSON"
      rows={6}
      spellcheck={false}
      value={json.value}
      aria-invalid={problem.value !== undefined}
      onInput={(event) => edit(event.currentTarget.value)}
    />
  );
  return (
    <>
      <Tabs
        label="Editor"
        selected={json.value === undefined ? 0 : 1}
        onSelect={(index) => {
          if (problem.value === undefined) json.value = index === 1 ? JSON.stringify(values, undefined, 2) : undefined;
        }}
        tabs={[
          { name: 'Form', content: formTab },
          { name: 'JSON', content: jsonTab },
        ]}
      />
      {problem.value !== undefined && <Problem message={problem.value} />}
    </>
  );
}

const isGiven = ([, value]: readonly [string, string]): boolean => value !== '';

/** An object of texts. */
function parse(json: string): FormValues {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !Object.values(value as object).every((each) => typeof each === 'string')) {
    throw new Error('Arguments are an object of strings.');
  }
  return value as FormValues;
}
