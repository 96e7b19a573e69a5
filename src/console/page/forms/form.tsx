// A form for a JSON Schema, and the same value as JSON text. The server's own validator checks it on every change.

import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Validated, ValidateRequest } from '../../api.ts';
import { Problem, Tabs } from '../components/basics.tsx';
import { post } from '../server.ts';
import type { FormContext } from './contract.ts';
import { FieldReader } from './field.ts';
import { FieldControl } from './field-control.tsx';
import { type FieldIssue, issuesAt } from './issues.ts';
import { type ExactJson, formatJson, parseJson } from './json-text.ts';
import { isSchema, type Schema } from './merge.ts';
import { type FieldState, stateOf, valueFrom } from './state.ts';

export interface FormProps {
  readonly schema: Schema;
  /** JSON text that the form shows at first. */
  readonly initialText?: string;
  /** How the server finds the schema. */
  readonly validate: Omit<ValidateRequest, 'argumentsText'>;
  readonly jsonLabel: string;
  /** Called with each change: the JSON text; undefined while it is not JSON. */
  readonly onChange: (text: string | undefined) => void;
  /** Issues that appear after an attempt to send, not while typing. */
  readonly showAll: boolean;
}

/** Time without a change before the server validates. */
const validateAfterMs = 150;
/** Time until the server is asked again when it could not be reached. */
const validateAgainMs = 2_000;

export function Form({ schema, initialText, validate, jsonLabel, onChange, showAll }: FormProps): JSX.Element {
  const reading = useMemo(() => ({ reader: new FieldReader(schema), parse: parseJson }), [schema]);
  const start = useMemo(() => {
    try {
      return initialText === undefined ? undefined : stateOf(schema, parseJson(initialText), reading);
    } catch {
      return undefined;
    }
  }, [schema]);
  const state = useSignal<FieldState>(start);
  /** The JSON text while it is edited as such. */
  const text = useSignal<string | undefined>(undefined);
  const textProblem = useSignal<string | undefined>(undefined);
  const issues = useSignal<readonly FieldIssue[]>([]);
  const touched = useSignal<ReadonlySet<string>>(new Set());
  const current = useComputed<string>(() => {
    if (text.value !== undefined) return text.value;
    const value: ExactJson = valueFrom(schema, state.value, true, reading) ?? new Map<string, ExactJson>();
    return formatJson(value, true);
  });
  useValidation(current.value, textProblem.value === undefined, validate, (found) => {
    issues.value = found;
  });
  useEffect(() => onChange(textProblem.value === undefined ? current.value : undefined), [current.value]);

  const context: FormContext = {
    Field: FieldControl,
    reader: reading.reader,
    issues: issues.value,
    isShown: (path) => showAll || touched.value.has(path),
    touch: (path) => {
      if (!touched.value.has(path)) touched.value = new Set([...touched.value, path]);
    },
  };
  const selectTab = (index: number): void => {
    if (index === 1) {
      text.value = current.value;
      return;
    }
    if (text.value === undefined) return;
    try {
      state.value = stateOf(schema, parseJson(text.value), reading);
      text.value = undefined;
      textProblem.value = undefined;
    } catch {
      // The text stays until it is JSON again.
    }
  };
  const editText = (next: string): void => {
    try {
      parseJson(next);
      textProblem.value = undefined;
    } catch (error) {
      textProblem.value = (error as Error).message;
    }
    text.value = next;
  };
  const whole = showAll || text.value !== undefined ? issuesAt(issues.value, '') : [];
  return (
    <div class="form">
      <Tabs
        label="Editor"
        selected={text.value === undefined ? 0 : 1}
        onSelect={selectTab}
        tabs={[
          {
            name: 'Form',
            content: () => (
              <FieldControl
                context={context}
                schema={schema}
                label=""
                path=""
                required
                state={state.value}
                ancestors={[]}
                onChange={(next) => {
                  state.value = next;
                }}
              />
            ),
          },
          {
            name: 'JSON',
            content: () => (
              <textarea
                class="code"
                aria-label={jsonLabel}
                spellcheck={false}
                rows={12}
                value={text.value}
                aria-invalid={textProblem.value !== undefined}
                onInput={(event) => editText(event.currentTarget.value)}
              />
            ),
          },
        ]}
      />
      {textProblem.value !== undefined && <Problem message={`This is not JSON: ${textProblem.value}`} />}
      {text.value !== undefined && textProblem.value === undefined && <IssueList issues={issues.value} />}
      {text.value === undefined && whole.map((issue) => <Problem key={issue.message} message={issue.message} />)}
    </div>
  );
}

function IssueList({ issues }: { issues: readonly FieldIssue[] }): JSX.Element | null {
  if (issues.length === 0) return null;
  return (
    <ul class="issues" aria-label="Validation errors">
      {issues.map((issue) => (
        <li key={issue.path + issue.message}>
          {issue.path !== '' && <code>{issue.path}</code>} {issue.message}
        </li>
      ))}
    </ul>
  );
}

/** Asks the server after a pause; only the newest answer counts. */
function useValidation(
  text: string,
  isJson: boolean,
  request: Omit<ValidateRequest, 'argumentsText'>,
  onIssues: (issues: readonly FieldIssue[]) => void,
): void {
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    if (!isJson) return;
    let timer: ReturnType<typeof setTimeout>;
    let triesLeft = 3;
    const ask = (): void => {
      triesLeft--;
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      post<Validated>('validate', { ...request, argumentsText: text }, controller.signal).then(
        (validated) => onIssues(validated.issues),
        () => {
          // The issues shown belong to an earlier text, so validate again if this text is still the newest.
          if (triesLeft > 0 && !controller.signal.aborted) timer = setTimeout(ask, validateAgainMs);
        },
      );
    };
    timer = setTimeout(ask, validateAfterMs);
    return () => {
      triesLeft = 0;
      clearTimeout(timer);
    };
  }, [text, isJson]);
}

/** The schema of an object; anything else is an object without fields. */
export const asSchema = (value: unknown): Schema => (isSchema(value) ? value : { type: 'object' });
