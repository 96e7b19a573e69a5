// Which files belong to this server: what no root, link or command of a profile ever shows.

import { OwnFiles } from '../security/files/own-files.ts';
import { credentialFile, dataFolder, thisPlatform, userConfigFile } from './config/folders.ts';
import { auditPlace } from './guard.ts';
import { join } from './node-modules.ts';
import type { Settings } from './settings.ts';

/**
 * The own files of a run: those of its settings, and those at the usual places even where the settings name others,
 * because a second server of the same user keeps its notes, tokens and sign-ins there.
 */
export function ownFilesOf({ dataDir, configFile, policy, audit, auth }: Settings): OwnFiles {
  const platform = thisPlatform();
  const log = audit === undefined ? undefined : auditPlace(audit.file);
  const named = [configFile, policy, audit?.file, auth?.tokenFile];
  return new OwnFiles({
    folders: [dataDir, dataFolder(platform)],
    files: [
      ...named.filter((file) => file !== undefined),
      // Finished files, further writers and locks are called after the log.
      ...(log === undefined ? [] : [join(log.directory, log.name)]),
      userConfigFile(platform),
      credentialFile(platform),
    ],
  });
}
