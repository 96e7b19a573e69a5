// Dialogs for the input requests of this tab's calls: a form, a URL to visit, a message of a model, roots.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { InputAnswer, JsonObject, PendingInput, Validated } from '../../api.ts';
import { CopyButton, Dialog, Notice, Problem, Tabs, Text } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { calls } from '../feed.ts';
import { asSchema, Form } from '../forms/form.tsx';
import { isSchema, type Schema } from '../forms/merge.ts';
import { post } from '../server.ts';
import { answerInput, cancelCall, ownCalls } from './calls.ts';
import { Content } from './content.tsx';

/** The dialog of the first open input request of this tab's calls. */
export function InputDialogs(): JSX.Element | null {
  for (const id of ownCalls.value) {
    const update = calls.value.get(id);
    const input = update?.status === 'input-required' ? update.inputs?.[0] : undefined;
    if (input !== undefined) return <InputDialog key={`${id} ${input.key}`} call={id} input={input} />;
  }
  return null;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function InputDialog({ call, input }: { call: string; input: PendingInput }): JSX.Element {
  const problem = useSignal<string | undefined>(undefined);
  const isSent = useSignal(false);
  const send = async (answer: Omit<InputAnswer, 'key'>): Promise<void> => {
    isSent.value = true;
    try {
      await answerInput(call, { key: input.key, ...answer });
    } catch (error) {
      problem.value = (error as Error).message;
      isSent.value = false;
    }
  };
  const isElicitation = input.method === 'elicitation/create';
  const decline = (): void => void send(isElicitation ? { result: { action: 'decline' } } : { declined: true });
  const cancel = (): void => {
    if (isElicitation) void send({ result: { action: 'cancel' } });
    else void cancelCall(call);
  };
  const props: BodyProps = {
    input,
    isSent: isSent.value,
    onSubmit: (result) => void send({ result }),
    decline,
    cancel,
  };
  return (
    <Dialog title={titles[input.method]} onClose={cancel} wide>
      {problem.value !== undefined && <Problem message={problem.value} />}
      {isElicitation && (input.params['mode'] === 'url' ? <UrlBody {...props} /> : <FormBody {...props} />)}
      {input.method === 'sampling/createMessage' && <SamplingBody {...props} />}
      {input.method === 'roots/list' && <RootsBody {...props} />}
    </Dialog>
  );
}

const titles = {
  'elicitation/create': 'The server asks for input',
  'sampling/createMessage': 'The server asks for a message from a model',
  'roots/list': 'The server asks for roots',
} as const;

interface BodyProps {
  readonly input: PendingInput;
  readonly isSent: boolean;
  readonly onSubmit: (result: JsonObject) => void;
  readonly decline: () => void;
  readonly cancel: () => void;
}

function Buttons({ props, onSubmit, canSubmit = true }: ButtonsProps): JSX.Element {
  return (
    <div class="dialog-buttons">
      <button type="button" class="primary" disabled={props.isSent || !canSubmit} onClick={onSubmit}>
        Submit
      </button>
      <button type="button" disabled={props.isSent} onClick={props.decline}>
        Decline
      </button>
      <button type="button" disabled={props.isSent} onClick={props.cancel}>
        Cancel
      </button>
    </div>
  );
}

interface ButtonsProps {
  readonly props: BodyProps;
  readonly onSubmit: () => void;
  readonly canSubmit?: boolean;
}

function FormBody(props: BodyProps): JSX.Element {
  const schema = asSchema(props.input.params['requestedSchema']);
  const current = useSignal<string | undefined>('{}');
  const isTried = useSignal(false);
  const issueCount = useSignal(0);
  const shown = useSignal(withBoxes(schema));
  const submit = async (): Promise<void> => {
    const argumentsText = current.value ?? '{}';
    isTried.value = true;
    const issues = await post<Validated>('validate', { schema, argumentsText }).then(
      (validated) => validated.issues,
      // If the schema cannot be used here, the answer is sent without validation.
      () => [],
    );
    issueCount.value = issues.length;
    // The first invalid field may be scrolled out of view.
    if (issues.length > 0)
      requestAnimationFrame(() => document.querySelector<HTMLElement>('dialog [aria-invalid="true"]')?.focus());
    if (issues.length === 0) props.onSubmit({ action: 'accept', content: JSON.parse(argumentsText) as JsonObject });
  };
  return (
    <>
      <p class="message-text">
        <Text text={text(props.input.params['message'])} />
      </p>
      <Form
        schema={shown.value}
        validate={{ schema }}
        jsonLabel="Content as JSON"
        showAll={isTried.value}
        onChange={(next) => {
          current.value = next;
        }}
      />
      {issueCount.value > 0 && <Problem message="The server's schema does not allow this. Correct it, or decline." />}
      <Buttons props={props} canSubmit={current.value !== undefined} onSubmit={() => void submit()} />
    </>
  );
}

/** A choice of several options is shown as boxes, whether or not the schema has `uniqueItems`. */
function withBoxes(schema: Schema): Schema {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const entries = Object.entries(properties).map(([name, property]) => {
    const isList = isSchema(property) && property['type'] === 'array';
    return [name, isList ? { ...property, uniqueItems: true } : property];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

function UrlBody(props: BodyProps): JSX.Element {
  const url = text(props.input.params['url']);
  let host = '';
  try {
    host = new URL(url).host;
  } catch {
    // Shown as it is; there is no host to name.
  }
  return (
    <>
      <p class="message-text">
        <Text text={text(props.input.params['message'])} />
      </p>
      <Notice tone="warning">
        The server asks you to visit {host === '' ? 'this address' : <strong>{host}</strong>}. Open it yourself if you
        trust it; the console does not open it.
      </Notice>
      <p class="url">
        <code>
          <Text text={url} />
        </code>
      </p>
      <CopyButton text={url} label="Copy address" />
      <Buttons props={props} onSubmit={() => props.onSubmit({ action: 'accept' })} />
    </>
  );
}

function SamplingBody(props: BodyProps): JSX.Element {
  const { messages, systemPrompt } = props.input.params;
  const list = Array.isArray(messages) ? (messages as JsonObject[]) : [];
  const start = { role: 'assistant', content: { type: 'text', text: '' }, model: 'console', stopReason: 'endTurn' };
  return (
    <>
      {text(systemPrompt) !== '' && (
        <Notice>
          <strong>System prompt</strong> <Text text={text(systemPrompt)} />
        </Notice>
      )}
      {list.map((message, index) => (
        <div class="message" key={index}>
          <p class="role">{text(message['role'])}</p>
          {(Array.isArray(message['content']) ? message['content'] : [message['content']]).map((item, at) => (
            <Content key={at} item={(item ?? {}) as JsonObject} />
          ))}
        </div>
      ))}
      <details>
        <summary>The whole request</summary>
        <JsonText text={JSON.stringify(props.input.params)} />
      </details>
      <Written
        props={props}
        label="Message"
        start={start}
        fromText={(written) => ({ ...start, content: { type: 'text', text: written } })}
      />
    </>
  );
}

function RootsBody(props: BodyProps): JSX.Element {
  return (
    <>
      <p>One root per line, as a URI such as file:///home/me/project.</p>
      <Written
        props={props}
        label="Roots"
        start={{ roots: [] }}
        fromText={(written) => {
          const lines = written.split('\n').map((line) => line.trim());
          return { roots: lines.filter((line) => line !== '').map((uri) => ({ uri })) };
        }}
      />
    </>
  );
}

interface WrittenProps {
  readonly props: BodyProps;
  readonly label: string;
  readonly start: JsonObject;
  readonly fromText: (text: string) => JsonObject;
}

/** A text that becomes the result, or the result itself as JSON. */
function Written({ props, label, start, fromText }: WrittenProps): JSX.Element {
  const written = useSignal('');
  const json = useSignal<string | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const submit = (): void => {
    try {
      props.onSubmit(json.value === undefined ? fromText(written.value) : (JSON.parse(json.value) as JsonObject));
    } catch (error) {
      problem.value = `This is not JSON: ${(error as Error).message}`;
    }
  };
  const writtenTab = (): JSX.Element => (
    <textarea
      aria-label={label}
      rows={5}
      value={written.value}
      onInput={(event) => {
        written.value = event.currentTarget.value;
      }}
    />
  );
  const jsonTab = (): JSX.Element => (
    <textarea
      class="code"
      aria-label="Result as JSON"
      rows={8}
      spellcheck={false}
      value={json.value}
      onInput={(event) => {
        json.value = event.currentTarget.value;
      }}
    />
  );
  return (
    <>
      <Tabs
        label="Editor"
        selected={json.value === undefined ? 0 : 1}
        onSelect={(index) => {
          const current = written.value === '' ? start : fromText(written.value);
          json.value = index === 1 ? JSON.stringify(current, undefined, 2) : undefined;
          problem.value = undefined;
        }}
        tabs={[
          { name: 'Text', content: writtenTab },
          { name: 'JSON', content: jsonTab },
        ]}
      />
      {problem.value !== undefined && <Problem message={problem.value} />}
      <Buttons props={props} onSubmit={submit} />
    </>
  );
}
