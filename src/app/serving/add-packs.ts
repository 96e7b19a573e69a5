// The packs that settings add to any profile: skills, and the operations of an API.

import { UserError } from '../../common/user-error.ts';
import type { Server } from '../../engine/server.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import type { OpenApiOptions } from '../../packs/openapi/index.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { type AssembledServer, packOptions } from '../profiles/index.ts';
import { ownFilesOf } from '../state/own-files.ts';
import { UsageError } from '../usage-error.ts';

/** Nothing of a pack is loaded without its setting. */
export async function addPacks(
  { server, gateway }: AssembledServer,
  resolved: ResolvedSettings,
  logger: StreamLogger,
): Promise<void> {
  const { skills, openapi } = resolved.settings;
  if (skills.length > 0) {
    if (gateway === undefined) await addSkills(server, resolved);
    else logger.warn('--skills has no effect with a gateway; add a server with skills to its configuration');
  }
  if (openapi !== undefined) {
    if (gateway === undefined) await addOpenApi(server, resolved);
    else logger.warn('--openapi has no effect with a gateway; add "mooring serve --openapi …" to its configuration');
  }
}

async function addSkills(server: Server, { settings }: ResolvedSettings): Promise<void> {
  const { skills } = await import('../../packs/skills/index.ts');
  await server.use(skills({ folders: settings.skills, own: ownFilesOf(settings) }));
}

async function addOpenApi(server: Server, { settings, values }: ResolvedSettings): Promise<void> {
  const { openapi: api, network } = settings;
  if (api === undefined) return;
  const { openApi, openApiSchema } = await import('../../packs/openapi/index.ts');
  const options = await packOptions<OpenApiOptions>(settings, 'openapi', openApiSchema);
  if (api.token !== undefined && options.credentials !== undefined) {
    const name = values.get('openapi.token')?.origin.where ?? 'openapi.token';
    throw new UsageError(`${name} and packs.openapi.credentials are both set. Leave one of them out`);
  }
  try {
    await server.use(
      openApi(api.document, {
        ...options,
        ...(api.url === undefined ? {} : { url: api.url }),
        ...(api.token === undefined ? {} : { credentials: api.token }),
        ...(network === undefined ? {} : { network }),
      }),
    );
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const where = values.get('openapi.document')?.origin.where ?? 'openapi.document';
    throw new UsageError(`${where}: ${error.message}`);
  }
}
