// About: the configuration in effect and where each value comes from, and how the server describes itself on each revision.

import type { JSX } from 'preact';
import type { About as AboutData } from '../../api.ts';
import { Heading, Problem, Tabs, Text, useLoaded } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { state } from '../feed.ts';
import { get } from '../server.ts';

export function About(): JSX.Element {
  const { value, problem } = useLoaded('about', () => get<AboutData>('about'));
  return (
    <>
      <Heading title="About" />
      {problem !== undefined && <Problem message={problem} />}
      <p class="muted">Mooring {state.value?.mooring}</p>
      {value !== undefined && value.settings.length > 0 && (
        <section class="card table-scroller" aria-label="Configuration" tabIndex={0}>
          <h2>Configuration</h2>
          <table>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {value.settings.map((setting) => (
                <tr key={setting.name}>
                  <td>
                    <code>{setting.name}</code>
                  </td>
                  <td>
                    <Text text={setting.value} />
                  </td>
                  <td class="muted">{setting.from}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {value !== undefined && value.descriptions.length > 0 && (
        <section class="card" aria-label="Description by revision">
          <h2>Description by revision</h2>
          <Tabs
            label="Revisions"
            tabs={value.descriptions.map((each) => ({
              name: each.revision,
              content: () => <JsonText text={each.text} />,
            }))}
          />
        </section>
      )}
    </>
  );
}
