import { expect, test } from 'vitest';
import type { Skill } from '../../protocol/skills.ts';
import { gatewayConfig } from '../config/decode-gateway.ts';
import type { UpstreamLists } from '../contract.ts';
import { type ExposedView, exposeView } from './views.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const noLists: UpstreamLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
const resource = (uri: string) => ({ name: uri, uri });

function skillAt(folder: string, ...paths: string[]): Skill {
  const uris = ['SKILL.md', ...paths].map((path) => `${folder}/${path}`);
  return {
    uri: `${folder}/SKILL.md`,
    frontmatter: { name: folder.slice(folder.lastIndexOf('/') + 1), description: 'x' },
    resources: uris.map((uri) => ({ uri, digest, size: 1 })),
  };
}

async function viewOf(lists: Readonly<Record<string, Partial<UpstreamLists>>>): Promise<ExposedView> {
  const mcpServers = Object.fromEntries(Object.keys(lists).map((name) => [name, { command: 'x' }]));
  const { servers, defaultView } = await gatewayConfig({ mcpServers });
  return exposeView(
    defaultView,
    servers.map((config) => ({ config, lists: { ...noLists, ...lists[config.name] } })),
  );
}

/** The URIs of all files of all skills. */
const filesOf = ({ skills }: ExposedView): string[][] =>
  skills.map(({ item }) => (item.resources === 'dynamic' ? [item.uri] : item.resources.map(({ uri }) => uri)));

/** Each file leads to the server of its skill, and to the URI that it has there. */
function expectRoutes(view: ExposedView, lists: Readonly<Record<string, Partial<UpstreamLists>>>): void {
  for (const { slug, original, item } of view.skills) {
    const own = lists[slug]?.skills?.find(({ uri }) => uri === original) as Skill;
    const uris = own.resources === 'dynamic' ? [own.uri] : own.resources.map(({ uri }) => uri);
    const exposed = item.resources === 'dynamic' ? [item.uri] : item.resources.map(({ uri }) => uri);
    expect(exposed.map((uri) => view.uris.route(uri))).toEqual(uris.map((uri) => ({ slug, uri })));
  }
}

test('the first server keeps a folder; all files of the second are qualified, also those that the first does not have', async () => {
  const lists = {
    one: { skills: [skillAt('skill://acme/refunds', 'a.md')] },
    two: {
      skills: [skillAt('skill://acme/refunds', 'a.md', 'b.md')],
      resources: [resource('skill://acme/refunds/b.md')],
    },
  };
  const view = await viewOf(lists);
  expect(filesOf(view)).toEqual([
    ['skill://acme/refunds/SKILL.md', 'skill://acme/refunds/a.md'],
    ['two+skill://acme/refunds/SKILL.md', 'two+skill://acme/refunds/a.md', 'two+skill://acme/refunds/b.md'],
  ]);
  expect(view.resources.map(({ exposed }) => exposed)).toEqual(['two+skill://acme/refunds/b.md']);
  expect(view.uris.route('skill://acme/refunds/b.md')).toEqual({ slug: 'one', uri: 'skill://acme/refunds/b.md' });
  expectRoutes(view, lists);
});

test('all URIs of a skill have one form if an earlier server lists something in its folder', async () => {
  const lists = {
    one: { resources: [resource('skill://acme/refunds/a.md')] },
    two: {
      skills: [skillAt('skill://acme/refunds', 'a.md', 'sub/SKILL.md'), skillAt('skill://acme/refunds/sub')],
      resources: [resource('skill://acme/refunds/SKILL.md')],
    },
  };
  const view = await viewOf(lists);
  expect(
    filesOf(view)
      .flat()
      .every((uri) => uri.startsWith('two+')),
  ).toBe(true);
  expect(view.skills).toHaveLength(2);
  expectRoutes(view, lists);
});

test('a folder in or around a folder of another server', async () => {
  const lists = {
    one: { skills: [skillAt('skill://acme/billing/refunds')] },
    two: { skills: [skillAt('skill://acme', 'x.md'), skillAt('skill://acme/billing/refunds/deep')] },
  };
  const view = await viewOf(lists);
  expect(filesOf(view)).toEqual([
    ['skill://acme/billing/refunds/SKILL.md'],
    ['skill://acme/SKILL.md', 'skill://acme/x.md'],
    ['two+skill://acme/billing/refunds/deep/SKILL.md'],
  ]);
  expectRoutes(view, lists);
});

test('a skill whose folder would not have its name any more is left out, with a warning', async () => {
  const lists = { one: { skills: [skillAt('ui://page')] }, two: { skills: [skillAt('ui://page')] } };
  const view = await viewOf(lists);
  expect(filesOf(view)).toEqual([['ui://page/SKILL.md']]);
  expect(view.warnings).toEqual([expect.stringContaining('its folder must have its name')]);
});
