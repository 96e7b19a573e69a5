// Ends the sign-in of the user at a server, and says what became of its tokens.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import type { Output } from '../ui/output.ts';

/** Returns the exit code. */
export async function endSignIn(
  server: string,
  { out, json }: { readonly out: Output; readonly json: boolean },
): Promise<number> {
  const { createFileStore, signOut } = await import('../../client/index.ts');
  const ended = await signOut({ server, store: createFileStore() });
  if (json) out.json({ server, signedIn: ended !== undefined, revocation: ended?.revocation ?? null });
  else if (ended === undefined) out.info(`You are not signed in to ${lineForTerminal(server)}.\n`);
  else out.info(`${sentence(lineForTerminal(server), ended.revocation)}\n`);
  if (ended?.error === undefined) return 0;
  out.info(`mooring: ${lineForTerminal(ended.error.message, 500)}\n`);
  return 1;
}

function sentence(server: string, revocation: 'done' | 'not-offered' | 'failed'): string {
  const after = {
    done: 'its tokens were revoked.',
    'not-offered':
      'its tokens were deleted here. The server does not support revocation, so they stay valid until they expire.',
    failed: 'its tokens were deleted here, but could not be revoked:',
  } as const;
  return `Signed out of ${server}: ${after[revocation]}`;
}
