// The files that belong to the server itself, which no root, link or command may expose.

import { join } from 'node:path';
import { OwnFiles } from '../../security/files/own-files.ts';
import { cacheFolder } from '../compile-cache.ts';
import { auditLocation, credentialFile, dataFolder, thisPlatform, userConfigFile } from '../config/folders.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * The server's own files: those of its settings, and those at the default paths even if the settings name others, because
 * a second server of the same user stores its notes, tokens and sign-ins there.
 */
export function ownFilesOf({ dataDir, configFile, policy, audit, auth, http }: Settings): OwnFiles {
  const platform = thisPlatform();
  const log = audit === undefined ? undefined : auditLocation(audit.file);
  const named = [configFile, policy, audit?.file, auth?.tokenFile, http?.tls?.key];
  return new OwnFiles({
    // The last one has compiled code of this program.
    folders: [dataDir, dataFolder(platform), cacheFolder(platform)],
    files: [
      ...named.filter((file) => file !== undefined),
      // Rotated files, further writers and locks have names that start with the log's.
      ...(log === undefined ? [] : [join(log.directory, log.name)]),
      userConfigFile(platform),
      credentialFile(platform),
    ],
  });
}
