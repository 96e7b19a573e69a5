// Profile `local`, the default: clipboard, notes, time, arithmetic, web search and the files in the given roots. Commands
// and workers only if they are enabled.

import { createServer } from '../../engine/server.ts';
import { type ClipboardOptions, clipboard, clipboardSchema } from '../../packs/clipboard/index.ts';
import type { FilesOptions } from '../../packs/files/index.ts';
import { Categories, type MetaOptions, meta, metaSchema } from '../../packs/meta/index.ts';
import { type ReferenceOptions, reference, referenceSchema } from '../../packs/reference/index.ts';
import { type SearchOptions, search, searchSchema } from '../../packs/search/index.ts';
import type { SystemOptions } from '../../packs/system/index.ts';
import type { WorkersOptions } from '../../packs/workers/index.ts';
import { ownFilesOf } from '../state/own-files.ts';
import { type Data, useData } from './data.ts';
import { packOptions } from './pack-options.ts';
import type { Profile, ProfileOptions } from './profile.ts';

const instructions = `Tools for the machine this server runs on: its clipboard, notes that are kept between conversations, time,
arithmetic, web search and, where folders were given, their files, with tools and as resources. health_check says how the parts are doing;
search_tools and list_categories find tools by words.`;

export const localProfile: Profile = {
  name: 'local',
  async assemble(options) {
    const { logger, version, settings, health, persistentState } = options;
    const server = createServer({
      name: 'mooring',
      title: 'Mooring',
      version,
      instructions,
      logger,
      ...persistentState,
    });
    const categories = new Categories(server);

    const board = clipboard(await packOptions<ClipboardOptions>(settings, 'clipboard', clipboardSchema));
    await categories.use(board, 'Read and write the clipboard of this machine');
    health?.add('clipboard', () => board.health());

    const limits = await packOptions<ReferenceOptions>(settings, 'reference', referenceSchema);
    const data = await useData(server, settings.dataDir, { logger, health, limits });
    const notes = reference({
      demoTools: false,
      ...limits,
      store: async () => (await data.open()).notes,
    });
    await categories.use(notes, 'Notes that are kept, time and arithmetic');
    const web = search({
      ...(await packOptions<SearchOptions>(settings, 'search', searchSchema)),
      ...(settings.network === undefined ? {} : { network: settings.network }),
    });
    await categories.use(web, 'Search the web');
    health?.add('search', () => web.health());
    await useFiles(categories, options);
    await useSystem(categories, options);
    await useWorkers(categories, data, options);
    await categories.use(
      meta({
        ...(await packOptions<MetaOptions>(settings, 'meta', metaSchema)),
        categories,
        health: async () => (await health?.check()) ?? [],
      }),
      'How this server is doing and what it can do',
    );
    return { server, data };
  },
};

/** Tools for files, if there are roots. */
async function useFiles(categories: Categories, { settings, logger }: ProfileOptions): Promise<void> {
  const { roots, write = false } = settings;
  if (roots.length === 0) {
    if (write !== false) logger.warn('--write has no effect without folders. Add --root DIR, or -- DIR');
    return;
  }
  const { files, filesSchema } = await import('../../packs/files/index.ts');
  const options = await packOptions<FilesOptions>(settings, 'files', filesSchema);
  const pack = files({ ...options, roots, write, own: ownFilesOf(settings) });
  await categories.use(pack, 'Read and search the files in the given folders, and change them where that is allowed');
}

/** Files as resources if there are roots, commands if they are enabled; otherwise the pack is not loaded. */
async function useSystem(categories: Categories, { settings, audit }: ProfileOptions): Promise<void> {
  const { roots, enable, allowedCommands: programs } = settings;
  if (roots.length === 0 && !enable.commands) return;
  const { system, systemSchema } = await import('../../packs/system/index.ts');
  const options = await packOptions<SystemOptions>(settings, 'system', systemSchema);
  const commands = {
    ...(options.commands === false ? {} : options.commands),
    ...(programs === undefined ? {} : { programs }),
    ...(audit === undefined ? {} : { record: audit.sandbox }),
  };
  const pack = system({
    ...options,
    roots,
    own: ownFilesOf(settings),
    analysis: false,
    askModel: false,
    commands: enable.commands ? commands : false,
  });
  await categories.use(pack, 'Sandboxed commands where they are enabled; files of the given folders as resources');
}

/** Workers, if they are enabled. */
async function useWorkers(categories: Categories, data: Data, { settings, audit }: ProfileOptions): Promise<void> {
  const { roots, enable, allowedCommands: programs } = settings;
  if (!enable.workers) return;
  const { workers, workersSchema } = await import('../../packs/workers/index.ts');
  const { createWorkerRegistry } = await import('./orchestrator-registry.ts');
  const pack = workers({
    registry: createWorkerRegistry(data),
    writable: roots,
    ...(await packOptions<WorkersOptions>(settings, 'workers', workersSchema)),
    ...(programs === undefined ? {} : { programs }),
    ...(audit === undefined ? {} : { record: audit.sandbox }),
    own: ownFilesOf(settings),
  });
  await categories.use(pack, 'Supervised processes that continue between calls');
}
