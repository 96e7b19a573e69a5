// The steps of signing in to an inspected server.

import type { JSX } from 'preact';
import type { AuthStep } from '../../api.ts';
import { Badge, Empty, Heading, Problem, Text, useLoaded } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { time } from '../format.ts';
import { get } from '../server.ts';

const refreshMs = 2_000;

export function Auth(): JSX.Element {
  const { value, problem } = useLoaded('auth', () => get<{ steps: readonly AuthStep[] }>('auth'), refreshMs);
  const steps = value?.steps ?? [];
  return (
    <>
      <Heading title="Auth" />
      {problem !== undefined && <Problem message={problem} />}
      {value !== undefined && steps.length === 0 && <Empty title="The server did not ask for authorization." />}
      <ol class="plain steps">
        {steps.map((step, index) => (
          <li key={index} class="card">
            <h2>
              <Text text={step.step} /> <span class="muted">{time(step.at)}</span>{' '}
              <Badge tone={step.problem === undefined ? 'good' : 'bad'}>
                {step.problem === undefined ? 'ok' : 'problem'}
              </Badge>
            </h2>
            {step.problem !== undefined && <Problem message={step.problem} />}
            {step.request !== undefined && <Part title="Request" text={step.request} />}
            {step.response !== undefined && <Part title="Response" text={step.response} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Part({ title, text }: { title: string; text: string }): JSX.Element {
  return (
    <details>
      <summary>{title}</summary>
      <JsonText text={text} />
    </details>
  );
}
