// No child outlives this process, however it ends: a tiny process holds a pipe to us and ends our children when it breaks, which
// happens even when we are killed. One for all children, there only while there are any.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';

const shell = '/bin/sh';

/**
 * Reads `+ <group>` and `- <group>`. At the end of input it gives groups that are left a second to notice the end
 * of theirs, then sends SIGTERM, and a second later SIGKILL. It only ever sees numbers, and ignores what would end it with us.
 * `kill` has the one form that all shells accept: BusyBox, which is the shell of Alpine, knows no `--`.
 */
export const guardScript = `trap '' HUP INT TERM
groups=
while read -r sign group; do
  if [ "$sign" = + ]; then groups="$groups $group"; else
    left=
    for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
    groups=$left
  fi
done
alive() {
  left=
  for each in $groups; do kill -0 "-$each" 2>/dev/null && left="$left $each"; done
  groups=$left
  [ -n "$groups" ]
}
alive && sleep 1
alive || exit 0
for each in $groups; do kill -TERM "-$each" 2>/dev/null; done
sleep 1
alive || exit 0
for each in $groups; do kill -KILL "-$each" 2>/dev/null; done`;

/**
 * Reports itself to the guardian before it becomes the program, so that there is no instant in which we could die and
 * leave an unknown child. The program's arguments are passed as arguments, never as code.
 */
const prelude = 'echo "+ $$" >&3 && exec "$@" 3>&-';

/** Whether children can be guarded on this system. */
export const canGuard = process.platform !== 'win32' && existsSync(shell);

let orphanGuard: ChildProcess | undefined;
let guarded = 0;

/** The pipe to the guardian, which is started if need be. Pair every call with one of `unguard`. */
export function guard(): Writable {
  guarded++;
  if (orphanGuard === undefined) {
    const started = spawn(shell, ['-c', guardScript], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: {},
      cwd: '/',
    });
    // It must not keep us alive, and its end must not end us.
    started.unref();
    (started.stdin as unknown as { unref(): void }).unref();
    started.stdin?.on('error', () => {});
    started.on('error', () => {});
    orphanGuard = started;
  }
  return orphanGuard.stdin as Writable;
}

/** A child is gone, with all of its group; `group` is undefined when it never came to be. */
export function unguard(group: number | undefined): void {
  const current = orphanGuard;
  if (group !== undefined) current?.stdin?.write(`- ${group}\n`);
  if (--guarded > 0) return;
  orphanGuard = undefined;
  current?.stdin?.end();
}

/** The command line that runs a program under guard, with the guardian's pipe as descriptor 3. */
export function guardedCommand(path: string, args: readonly string[]): { file: string; args: string[] } {
  return { file: shell, args: ['-c', prelude, 'sh', path, ...args] };
}
