// Prompts: arguments with completions, and the messages that come back.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { JsonObject } from '../../api.ts';
import { startCall } from '../calls/calls.ts';
import { Result } from '../calls/result.tsx';
import { Empty, Problem, Text } from '../components/basics.tsx';
import { state } from '../feed.ts';
import { lists, revision } from '../lists.ts';
import { Catalog, text } from './catalog.tsx';
import { type FormValues, ValuesForm } from './values-form.tsx';

export function Prompts(): JSX.Element {
  const prompts = lists.value?.prompts ?? [];
  const entries = prompts.map((prompt) => ({
    name: String(prompt['name']),
    title: text(prompt['title']),
    description: text(prompt['description']),
  }));
  const detail = (name: string): JSX.Element => {
    const prompt = prompts.find((each) => each['name'] === name);
    if (prompt !== undefined) return <Prompt key={name} prompt={prompt} />;
    return lists.value === undefined ? <p class="muted">Loading…</p> : <Empty title={`There is no prompt ${name}.`} />;
  };
  return (
    <Catalog
      title="Prompts"
      screen="prompts"
      noun="prompt"
      entries={entries}
      emptyText="This server has no prompts."
      detail={detail}
    />
  );
}

function Prompt({ prompt }: { prompt: JsonObject }): JSX.Element {
  const name = String(prompt['name']);
  const place = `prompt ${name}`;
  const given = Array.isArray(prompt['arguments']) ? (prompt['arguments'] as JsonObject[]) : [];
  const fields = given.map((argument) => ({
    name: String(argument['name']),
    title: text(argument['title']),
    description: text(argument['description']),
    required: argument['required'] === true,
  }));
  const values = useSignal<FormValues>({});
  const problem = useSignal<string | undefined>(undefined);
  const canTry = state.value?.rights.includes('try') === true;
  const getPrompt = async (): Promise<void> => {
    problem.value = undefined;
    try {
      const params = { name, arguments: values.value };
      await startCall(place, { method: 'prompts/get', params, revision: revision.value });
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  return (
    <article class="detail">
      <h2>
        <Text text={name} />
      </h2>
      {text(prompt['description']) !== undefined && (
        <p class="description">
          <Text text={prompt['description'] as string} />
        </p>
      )}
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void getPrompt();
        }}
      >
        <ValuesForm
          fields={fields}
          reference={{ type: 'ref/prompt', name }}
          values={values.value}
          onChange={(next) => {
            values.value = next;
          }}
        />
        {problem.value !== undefined && <Problem message={problem.value} />}
        <div class="form-buttons">
          <button type="submit" class="primary" disabled={!canTry}>
            Get
          </button>
        </div>
      </form>
      <Result place={place} />
    </article>
  );
}
