// A knowledge graph that a model can build and search: the tools of @modelcontextprotocol/server-memory, and its file format.
// Try it: MEMORY_FILE_PATH=memory.jsonl mooring tools "node examples/memory.mjs"
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createServer, serveStdio } from 'mooring';
import { z } from 'zod';

const file = resolve(import.meta.dirname, process.env.MEMORY_FILE_PATH ?? 'memory.jsonl');
const uri = 'memory://knowledge-graph';
const server = createServer({ name: 'memory-server', version: '1.0.0' });

async function load() {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const rows = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]));
  const of = (wanted) => rows.flatMap(({ type, ...row }) => (type === wanted ? [row] : []));
  return { entities: of('entity'), relations: of('relation') };
}

/** Replaces the file in one step, so that an interruption cannot leave half of it. */
async function save({ entities, relations }) {
  const rows = [
    ...entities.map((entity) => ({ type: 'entity', ...entity })),
    ...relations.map((relation) => ({ type: 'relation', ...relation })),
  ];
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, rows.map((row) => JSON.stringify(row)).join('\n'));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Changes run one after the other: each reads what the one before it wrote. */
let last = Promise.resolve();
function update(change) {
  const result = last.then(async () => {
    const graph = await load();
    const value = change(graph);
    await save(graph);
    server.resourceUpdated(uri);
    return value;
  });
  last = result.catch(() => {});
  return result;
}

const same = (a, b) => a.from === b.from && a.to === b.to && a.relationType === b.relationType;
const strings = (description) => z.array(z.string()).describe(description);
const entity = z.object({
  name: z.string().describe('The name of the entity'),
  entityType: z.string().describe('The type of the entity'),
  observations: strings('An array of observation contents associated with the entity'),
});
const relation = z.object({
  from: z.string().describe('The name of the entity where the relation starts'),
  to: z.string().describe('The name of the entity where the relation ends'),
  relationType: z.string().describe('The type of the relation'),
});
const graphOutput = z.object({ entities: z.array(entity), relations: z.array(relation) });
const doneOutput = z.object({ success: z.boolean(), message: z.string() });

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const deletes = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };

const result = (shown, structuredContent) => ({
  content: [{ type: 'text', text: typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2) }],
  structuredContent,
});
const deleted = (what) =>
  result(`${what} deleted successfully`, { success: true, message: `${what} deleted successfully` });

/** The entities that match, and every relation that begins or ends at one of them. */
async function select(matches) {
  const graph = await load();
  const entities = graph.entities.filter(matches);
  const names = new Set(entities.map(({ name }) => name));
  const found = { entities, relations: graph.relations.filter(({ from, to }) => names.has(from) || names.has(to)) };
  return result(found, found);
}

server.tool('create_entities', {
  title: 'Create Entities',
  description: 'Create multiple new entities in the knowledge graph',
  input: z.object({ entities: z.array(entity) }),
  output: z.object({ entities: z.array(entity) }),
  annotations: adds,
  run: async ({ entities }) => {
    const added = await update((graph) => {
      const fresh = entities.filter(({ name }) => !graph.entities.some((known) => known.name === name));
      graph.entities.push(...fresh);
      return fresh;
    });
    return result(added, { entities: added });
  },
});

server.tool('create_relations', {
  title: 'Create Relations',
  description:
    'Create multiple new relations between entities in the knowledge graph. Relations should be in active voice',
  input: z.object({ relations: z.array(relation) }),
  output: z.object({ relations: z.array(relation) }),
  annotations: adds,
  run: async ({ relations }) => {
    const added = await update((graph) => {
      const fresh = relations.filter((each) => !graph.relations.some((known) => same(known, each)));
      graph.relations.push(...fresh);
      return fresh;
    });
    return result(added, { relations: added });
  },
});

server.tool('add_observations', {
  title: 'Add Observations',
  description: 'Add new observations to existing entities in the knowledge graph',
  input: z.object({
    observations: z.array(
      z.object({
        entityName: z.string().describe('The name of the entity to add the observations to'),
        contents: strings('An array of observation contents to add'),
      }),
    ),
  }),
  output: z.object({
    results: z.array(z.object({ entityName: z.string(), addedObservations: z.array(z.string()) })),
  }),
  annotations: adds,
  run: async ({ observations }) => {
    const results = await update((graph) =>
      observations.map(({ entityName, contents }) => {
        const found = graph.entities.find(({ name }) => name === entityName);
        if (found === undefined) throw new Error(`Entity with name ${entityName} not found`);
        const addedObservations = contents.filter((each) => !found.observations.includes(each));
        found.observations.push(...addedObservations);
        return { entityName, addedObservations };
      }),
    );
    return result(results, { results });
  },
});

server.tool('delete_entities', {
  title: 'Delete Entities',
  description: 'Delete multiple entities and their associated relations from the knowledge graph',
  input: z.object({ entityNames: strings('An array of entity names to delete') }),
  output: doneOutput,
  annotations: deletes,
  run: async ({ entityNames: names }) => {
    await update((graph) => {
      graph.entities = graph.entities.filter(({ name }) => !names.includes(name));
      graph.relations = graph.relations.filter(({ from, to }) => !names.includes(from) && !names.includes(to));
    });
    return deleted('Entities');
  },
});

server.tool('delete_observations', {
  title: 'Delete Observations',
  description: 'Delete specific observations from entities in the knowledge graph',
  input: z.object({
    deletions: z.array(
      z.object({
        entityName: z.string().describe('The name of the entity containing the observations'),
        observations: strings('An array of observations to delete'),
      }),
    ),
  }),
  output: doneOutput,
  annotations: deletes,
  run: async ({ deletions }) => {
    await update((graph) => {
      for (const { entityName, observations } of deletions) {
        const found = graph.entities.find(({ name }) => name === entityName);
        if (found) found.observations = found.observations.filter((each) => !observations.includes(each));
      }
    });
    return deleted('Observations');
  },
});

server.tool('delete_relations', {
  title: 'Delete Relations',
  description: 'Delete multiple relations from the knowledge graph',
  input: z.object({ relations: z.array(relation).describe('An array of relations to delete') }),
  output: doneOutput,
  annotations: deletes,
  run: async ({ relations }) => {
    await update((graph) => {
      graph.relations = graph.relations.filter((known) => !relations.some((each) => same(known, each)));
    });
    return deleted('Relations');
  },
});

server.tool('read_graph', {
  title: 'Read Graph',
  description: 'Read the entire knowledge graph',
  input: z.object({}),
  output: graphOutput,
  annotations: reads,
  run: async () => {
    const graph = await load();
    return result(graph, graph);
  },
});

server.tool('search_nodes', {
  title: 'Search Nodes',
  description: 'Search for nodes in the knowledge graph based on a query',
  input: z.object({
    query: z.string().describe('The search query to match against entity names, types, and observation content'),
  }),
  output: graphOutput,
  annotations: reads,
  run: ({ query }) => {
    const matches = (value) => value.toLowerCase().includes(query.toLowerCase());
    return select((each) => [each.name, each.entityType, ...each.observations].some(matches));
  },
});

server.tool('open_nodes', {
  title: 'Open Nodes',
  description: 'Open specific nodes in the knowledge graph by their names',
  input: z.object({ names: strings('An array of entity names to retrieve') }),
  output: graphOutput,
  annotations: reads,
  run: ({ names }) => select(({ name }) => names.includes(name)),
});

server.resource(uri, {
  name: 'knowledge-graph',
  title: 'Knowledge Graph',
  description: 'The full knowledge graph with all entities and relations',
  mimeType: 'application/json',
  read: async () => JSON.stringify(await load(), null, 2),
});

await serveStdio(server);
