// calculate: four operations on two numbers.

import { UserError } from '../../common/user-error.ts';
import type { Server } from '../../engine/server.ts';

const operations = {
  add: { sign: '+', apply: (a: number, b: number) => a + b },
  subtract: { sign: '-', apply: (a: number, b: number) => a - b },
  multiply: { sign: '*', apply: (a: number, b: number) => a * b },
  divide: { sign: '/', apply: divide },
} as const;

type Operation = keyof typeof operations;

function divide(a: number, b: number): number {
  if (b === 0) throw new UserError('Division by zero');
  return a / b;
}

export function installArithmetic(server: Server): void {
  server.tool('calculate', {
    description: 'Perform arithmetic operations',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: ['add', 'subtract', 'multiply', 'divide'] },
        a: { type: 'number' },
        b: { type: 'number' },
      },
      required: ['operation', 'a', 'b'],
    } as const,
    run: ({ operation, a, b }) => {
      const { sign, apply } = operations[operation as Operation];
      const result = apply(a, b);
      if (!Number.isFinite(result)) throw new UserError('The result is too large for a number');
      return `${a} ${sign} ${b} = ${result}`;
    },
  });
}
