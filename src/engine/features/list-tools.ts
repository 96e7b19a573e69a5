// tools/list.

import type { Feature } from '../contract.ts';

export const listTools: Feature<string> = {
  run: (call) => call.server.lists.page('tools', call, undefined, call.server.tasks?.listVariant(call)),
  encode: (page, { server }) => server.lists.encode(page),
};
