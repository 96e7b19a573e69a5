// Tools: the list, a form for the arguments, the result, and the same call on every revision.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CallComparison, JsonObject } from '../../api.ts';
import { ToolApp, uiOf } from '../apps/tool-app.tsx';
import { keepArguments, keptArguments, startCall } from '../calls/calls.ts';
import { Result, ResultText } from '../calls/result.tsx';
import { Badge, CopyButton, Dialog, Empty, Problem, Text } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { state } from '../feed.ts';
import { duration } from '../format.ts';
import { asSchema, Form } from '../forms/form.tsx';
import { lists, revision, revisions } from '../lists.ts';
import { post } from '../server.ts';
import { Catalog, text } from './catalog.tsx';

export function Tools(): JSX.Element {
  const tools = lists.value?.tools ?? [];
  const entries = tools.map((tool) => ({
    name: String(tool['name']),
    title: text(tool['title']),
    description: text(tool['description']),
    marks: <Marks tool={tool} />,
  }));
  const detail = (name: string): JSX.Element => {
    const tool = tools.find((each) => each['name'] === name);
    if (tool !== undefined) return <Tool key={name} tool={tool} />;
    return lists.value === undefined ? <p class="muted">Loading…</p> : <Empty title={`There is no tool ${name}.`} />;
  };
  return (
    <Catalog
      title="Tools"
      screen="tools"
      noun="tool"
      entries={entries}
      emptyText="This server has no tools."
      detail={detail}
    />
  );
}

function annotationsOf(tool: JsonObject): JsonObject {
  const given = tool['annotations'];
  return typeof given === 'object' && given !== null ? (given as JsonObject) : {};
}

/**
 * Only if the annotation is set: by the specification a tool without annotations counts as destructive, and a dialog
 * for every call would be clicked away unread.
 */
const isDestructive = (tool: JsonObject): boolean => {
  const { readOnlyHint, destructiveHint } = annotationsOf(tool);
  return readOnlyHint !== true && destructiveHint === true;
};

function Marks({ tool }: { tool: JsonObject }): JSX.Element {
  const { readOnlyHint, idempotentHint, openWorldHint } = annotationsOf(tool);
  const { uri, isForAppsOnly } = uiOf(tool);
  return (
    <span class="tool-marks">
      {readOnlyHint === true && <Badge tone="good">read-only</Badge>}
      {isDestructive(tool) && <Badge tone="bad">destructive</Badge>}
      {idempotentHint === true && readOnlyHint !== true && <Badge>idempotent</Badge>}
      {openWorldHint === true && <Badge>open world</Badge>}
      {uri !== undefined && <Badge tone="accent">app</Badge>}
      {isForAppsOnly && <Badge>for apps only</Badge>}
    </span>
  );
}

function Tool({ tool }: { tool: JsonObject }): JSX.Element {
  const name = String(tool['name']);
  const place = `tool ${name}`;
  const server = state.value?.server.name ?? '';
  const schemaText = JSON.stringify(tool['inputSchema']);
  // The list is loaded again from time to time; the form stays as long as the schema does.
  const schema = useMemo(() => asSchema(JSON.parse(schemaText ?? '{}')), [schemaText]);
  const initialText = useMemo(() => keptArguments(server, name), [name]);
  const current = useSignal<string | undefined>(initialText ?? '{}');
  const isTried = useSignal(false);
  const asked = useSignal<(() => Promise<void>) | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const comparison = useSignal<CallComparison | 'running' | undefined>(undefined);
  const canTry = state.value?.rights.includes('try') === true;
  const request = () => ({
    method: 'tools/call' as const,
    params: { name },
    revision: revision.value,
    argumentsText: current.value,
  });
  const run = async (): Promise<void> => {
    comparison.value = undefined;
    await startCall(place, request());
    keepArguments(server, name, schema, current.value ?? '{}');
  };
  const compare = async (): Promise<void> => {
    comparison.value = 'running';
    comparison.value = await post<CallComparison>('compare', request());
  };
  /** Runs, after a confirmation if the tool is destructive. */
  const attempt = async (action: () => Promise<void>, isConfirmed = false): Promise<void> => {
    isTried.value = true;
    problem.value = undefined;
    if (isDestructive(tool) && !isConfirmed) {
      asked.value = action;
      return;
    }
    asked.value = undefined;
    try {
      await action();
    } catch (error) {
      if (comparison.value === 'running') comparison.value = undefined;
      problem.value = (error as Error).message;
    }
  };
  return (
    <article class="detail">
      <header class="detail-heading">
        <h2>
          <Text text={name} />
        </h2>
        <Marks tool={tool} />
      </header>
      {text(tool['title']) !== undefined && (
        <p class="detail-title">
          <Text text={tool['title'] as string} />
        </p>
      )}
      {text(tool['description']) !== undefined && (
        <p class="description">
          <Text text={tool['description'] as string} />
        </p>
      )}
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(run);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void attempt(run);
        }}
      >
        <Form
          key={schemaText}
          schema={schema}
          initialText={initialText}
          validate={{ tool: name }}
          jsonLabel="Arguments as JSON"
          showAll={isTried.value}
          onChange={(next) => {
            current.value = next;
          }}
        />
        {problem.value !== undefined && <Problem message={problem.value} />}
        {canTry ? (
          <div class="form-buttons">
            <button type="submit" class="primary" disabled={current.value === undefined}>
              Run
            </button>
            {revisions.value.length > 1 && (
              <button type="button" disabled={current.value === undefined} onClick={() => void attempt(compare)}>
                Run on all revisions and compare
              </button>
            )}
          </div>
        ) : (
          <p class="muted">This console is read-only: tools cannot be run from here.</p>
        )}
      </form>
      {comparison.value === undefined ? <Result place={place} /> : <Comparison comparison={comparison.value} />}
      {comparison.value === undefined && <ToolApp tool={tool} place={place} />}
      <Schemas tool={tool} />
      {asked.value !== undefined && (
        <Dialog title="Run a destructive tool?" onClose={() => (asked.value = undefined)}>
          <p>
            The server says that <code>{name}</code> may delete or overwrite data.
          </p>
          <div class="dialog-buttons">
            <button
              type="button"
              class="danger"
              onClick={() => asked.value !== undefined && void attempt(asked.value, true)}
            >
              Run anyway
            </button>
            <button type="button" onClick={() => (asked.value = undefined)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </article>
  );
}

function Schemas({ tool }: { tool: JsonObject }): JSX.Element {
  return (
    <div class="schemas">
      {(['inputSchema', 'outputSchema'] as const).map(
        (key) =>
          tool[key] !== undefined && (
            <details key={key} class="card">
              <summary>{key === 'inputSchema' ? 'Input schema' : 'Output schema'}</summary>
              <JsonText text={JSON.stringify(tool[key])} depth={4} />
              <CopyButton text={() => JSON.stringify(tool[key], undefined, 2)} />
            </details>
          ),
      )}
      <details class="card">
        <summary>Definition</summary>
        <JsonText text={JSON.stringify(tool)} depth={2} />
      </details>
    </div>
  );
}

/** Results of all revisions; those that differ from the newest are marked. */
function Comparison({ comparison }: { comparison: CallComparison | 'running' }): JSX.Element {
  if (comparison === 'running') {
    return (
      <section class="card result" aria-label="Result" aria-busy>
        <h2>Result</h2>
        <p role="status">Running on all revisions…</p>
      </section>
    );
  }
  const results = [...comparison.results].sort((a, b) => b.revision.localeCompare(a.revision));
  const reference = results[0]?.resultText;
  return (
    <section class="card result" aria-label="Result">
      <h2>Result</h2>
      {results.map((result) => (
        <details key={result.revision} open={result.revision === results[0]?.revision}>
          <summary>
            <strong>{result.revision}</strong> <span class="muted">{duration(result.durationMs)}</span>{' '}
            {result.error !== undefined ? (
              <Badge tone="bad">failed</Badge>
            ) : result.resultText === reference ? (
              <Badge tone="good">same</Badge>
            ) : (
              <Badge tone="warning">different</Badge>
            )}
          </summary>
          {result.error !== undefined && <Problem message={result.error} />}
          {result.resultText !== undefined && <ResultText text={result.resultText} />}
        </details>
      ))}
    </section>
  );
}
