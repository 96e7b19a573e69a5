// The prompt `analyze_system`.

import type { Server } from '../../engine/server.ts';

const areas = ['network', 'storage', 'memory', 'processes', 'services', 'security'];

export function installAnalysis(server: Server): void {
  server.prompt('analyze_system', {
    description: 'Analyze current system state',
    args: {
      focus: {
        description: 'Area to focus on',
        required: false,
        complete: (value) => areas.filter((area) => area.startsWith(value)),
      },
    },
    get: ({ focus }) => ({
      description: 'System analysis prompt',
      messages: [
        {
          role: 'user',
          content: {
            type: 'text',
            text:
              focus === undefined || focus === ''
                ? 'Analyze the current system state and identify any issues.'
                : `Analyze the ${focus} configuration and identify any issues.`,
          },
        },
      ],
    }),
  });
}
