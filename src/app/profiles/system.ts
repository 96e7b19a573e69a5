// Profile `system`: this machine over stdio, HTTP and WebSocket, with sandboxed commands, files, D-Bus services, rate
// limits and an audit log. docs/profiles/system.md lists the options.

import { createServer } from '../../engine/server.ts';
import { type DbusOptions, dbus, dbusSchema } from '../../packs/dbus/index.ts';
import { type SystemOptions, system, systemSchema } from '../../packs/system/index.ts';
import { limitConcurrency } from '../../security/limits/index.ts';
import { ownFilesOf } from '../state/own-files.ts';
import { packOptions } from './pack-options.ts';
import type { Profile } from './profile.ts';
import { limitRate } from './rate.ts';

export const systemProfile: Profile = {
  name: 'system',
  async assemble({ logger, settings, audit, persistentState }) {
    const server = createServer({
      name: 'my-mcp-server',
      version: '1.0.0',
      rules: { handshakeVersions: ['2024-11-05'] },
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      limits: { pageSize: 100 },
      logger,
      ...persistentState,
    });
    await limitRate(server, settings, [
      { per: 'principal', requests: 600, windowMs: 60_000, burst: 200 },
      { per: 'principal', tools: ['execute_command', 'ask_model'], requests: 60, windowMs: 60_000, burst: 20 },
    ]);
    server.around(limitConcurrency({ per: 'principal', tools: ['execute_command'], max: 4, queue: 16 }));
    const options = await packOptions<SystemOptions>(settings, 'system', systemSchema);
    const { allowedCommands: programs, roots } = settings;
    const commands = {
      ...(options.commands === false ? {} : options.commands),
      ...(programs === undefined ? {} : { programs }),
      ...(audit === undefined ? {} : { record: audit.sandbox }),
    };
    await server.use(system({ ...options, roots, commands, own: ownFilesOf(settings) }));
    await server.use(dbus(await packOptions<DbusOptions>(settings, 'dbus', dbusSchema)));
    return { server, http: { port: 8080, sessions: 'optional', compat: { replyPath: '/message' } } };
  },
};
