// Tools that change the lists, so that a client can see how it hears of it.

import type { Registration } from '../../engine/definitions.ts';
import type { Server } from '../../engine/server.ts';

/** Each call adds what the call before took away. */
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
  const toggleTool = toggle(() =>
    server.tool('test_toggled_tool', { description: 'Comes and goes', run: () => 'I am here for now.' }),
  );
  const togglePrompt = toggle(() =>
    server.prompt('test_toggled_prompt', { description: 'Comes and goes', get: () => 'I am here for now.' }),
  );
  server.tool('test_trigger_tool_change', {
    description: 'Adds a tool, or takes it away again',
    run: () => `test_toggled_tool is ${toggleTool() ? 'there' : 'gone'}`,
  });
  server.tool('test_trigger_prompt_change', {
    description: 'Adds a prompt, or takes it away again',
    run: () => `test_toggled_prompt is ${togglePrompt() ? 'there' : 'gone'}`,
  });
}
