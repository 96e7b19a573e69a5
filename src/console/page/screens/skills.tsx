// Skills: the list, and the files of one with their digests. Files are read as resources.

import type { JSX } from 'preact';
import type { JsonObject } from '../../api.ts';
import { Result } from '../calls/result.tsx';
import { Badge, Empty, Text } from '../components/basics.tsx';
import { JsonText } from '../components/json-view.tsx';
import { bytes, plural } from '../format.ts';
import { lists } from '../lists.ts';
import { link } from '../router.ts';
import { Catalog, text } from './catalog.tsx';
import { ReadButton } from './resources.tsx';

const frontmatterOf = (skill: JsonObject): JsonObject => (skill['frontmatter'] ?? {}) as JsonObject;

export function Skills(): JSX.Element {
  const skills = lists.value?.skills ?? [];
  const entries = skills.map((skill) => ({
    name: String(skill['uri']),
    description: text(frontmatterOf(skill)['description']),
    marks: skill['resources'] === 'dynamic' ? <Badge tone="accent">generated</Badge> : undefined,
  }));
  const detail = (uri: string): JSX.Element => {
    const skill = skills.find((each) => each['uri'] === uri);
    if (skill !== undefined) return <Skill key={uri} uri={uri} skill={skill} />;
    return lists.value === undefined ? <p class="muted">Loading…</p> : <Empty title={`There is no skill ${uri}.`} />;
  };
  return (
    <Catalog
      title="Skills"
      screen="skills"
      noun="skill"
      entries={entries}
      emptyText="This server has no skills."
      detail={detail}
    />
  );
}

function Skill({ uri, skill }: { uri: string; skill: JsonObject }): JSX.Element {
  const frontmatter = frontmatterOf(skill);
  const files = Array.isArray(skill['resources']) ? (skill['resources'] as JsonObject[]) : undefined;
  return (
    <article class="detail">
      <h2 class="uri">
        <Text text={uri} />
      </h2>
      <p class="description">
        <Text text={text(frontmatter['description']) ?? ''} />
      </p>
      <ReadButton uri={uri} />
      <Result place={`resource ${uri}`} />
      <section class="card" aria-label="Frontmatter">
        <h3>Frontmatter</h3>
        <JsonText text={JSON.stringify(frontmatter)} />
      </section>
      {files === undefined ? (
        <p class="muted">Its files are generated, so there are no digests.</p>
      ) : (
        <Files folder={uri.slice(0, uri.lastIndexOf('/') + 1)} files={files} />
      )}
    </article>
  );
}

function Files({ folder, files }: { folder: string; files: readonly JsonObject[] }): JSX.Element {
  const total = files.reduce((sum, { size }) => sum + (typeof size === 'number' ? size : 0), 0);
  return (
    <section class="card table-scroller" aria-label="Files" tabIndex={0}>
      <h3>
        {plural(files.length, 'file')}, {bytes(total)}
      </h3>
      <table>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Size</th>
            <th scope="col">SHA-256</th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => {
            const uri = String(file['uri']);
            return (
              <tr key={uri}>
                <td>
                  <a href={link('resources', uri)}>
                    <Text text={uri.startsWith(folder) ? uri.slice(folder.length) : uri} />
                  </a>
                </td>
                <td>{typeof file['size'] === 'number' && bytes(file['size'])}</td>
                <td>
                  <code>
                    <Text
                      text={String(file['digest'])
                        .replace(/^sha256:/, '')
                        .slice(0, 16)}
                    />
                    …
                  </code>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
