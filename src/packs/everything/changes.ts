// Tools that change the lists, so that a client can test list_changed notifications.

import type { Registration } from '../../engine/definitions.ts';
import type { Server } from '../../engine/server.ts';
import { inAllProcesses } from './in-all-processes.ts';

/** Each call reverses the one before: adds, then removes. */
function toggle(add: () => Registration): () => boolean {
  let present: Registration | undefined;
  return () => {
    if (present === undefined) present = add();
    else {
      present.remove();
      present = undefined;
    }
    return present !== undefined;
  };
}

export function installChanges(server: Server): void {
  const toggleTool = inAllProcesses(
    server,
    'toggle tool',
    toggle(() =>
      server.tool('test_toggled_tool', { description: 'Present or absent', run: () => 'I am here for now.' }),
    ),
  );
  const togglePrompt = inAllProcesses(
    server,
    'toggle prompt',
    toggle(() =>
      server.prompt('test_toggled_prompt', { description: 'Present or absent', get: () => 'I am here for now.' }),
    ),
  );
  server.tool('test_trigger_tool_change', {
    description: 'Adds a tool, or removes it again',
    run: async () => `test_toggled_tool is ${(await toggleTool()) ? 'present' : 'removed'}`,
  });
  server.tool('test_trigger_prompt_change', {
    description: 'Adds a prompt, or removes it again',
    run: async () => `test_toggled_prompt is ${(await togglePrompt()) ? 'present' : 'removed'}`,
  });
}
