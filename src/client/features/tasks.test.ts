import { expect, test, vi } from 'vitest';
import { connect } from '../connect.ts';
import { ScriptedServer } from '../testing/scripted-server.ts';

let loads = 0;
vi.mock('../tasks/task-tracker.ts', async (original) => {
  loads++;
  return original();
});

test('a client loads what follows tasks with the first task', async () => {
  const server = new ScriptedServer('stateless', {
    'tools/call': ({ params }) => ({
      resultType: params?.['name'] === 'slow' ? 'task' : 'complete',
      content: [],
    }),
  });
  const client = await connect(server.target);
  await client.callTool('quick');
  expect(loads).toBe(0);
  await expect(client.callTool('slow')).rejects.toMatchObject({ code: 'invalid-result' });
  expect(loads).toBe(1);
  await client.close();
});
