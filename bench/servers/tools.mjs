// The tools every contestant offers: the same names, schemas and handlers, as JSON Schema and as zod shapes.
// BENCH_TOOLS sets how many there are in all; the first two are called, the rest make a list long.

/** @param {Record<string, unknown>} properties @param {string[]} required */
const object = (properties, required) => ({ type: 'object', properties, required });

const operations = ['add', 'subtract', 'multiply', 'divide'];
const kinds = ['alpha', 'beta', 'gamma'];

/** @param {{ operation: string, a: number, b: number }} input */
function calculate({ operation, a, b }) {
  if (operation === 'add') return String(a + b);
  if (operation === 'subtract') return String(a - b);
  if (operation === 'multiply') return String(a * b);
  return String(a / b);
}

/**
 * A tool as all servers register it; `shape` builds the zod form with the zod that the server itself loaded.
 * @typedef {object} BenchTool
 * @property {string} name
 * @property {string} description
 * @property {{ type: string, properties: Record<string, any>, required: string[] }} inputSchema
 * @property {(z: typeof import('zod').z) => Record<string, import('zod').ZodType>} shape
 * @property {(input: any) => string} run
 */

/** @type {BenchTool[]} */
const called = [
  {
    name: 'calculate',
    description: 'Performs one of the four basic operations on two numbers',
    inputSchema: object(
      { operation: { type: 'string', enum: operations }, a: { type: 'number' }, b: { type: 'number' } },
      ['operation', 'a', 'b'],
    ),
    shape: (z) => ({ operation: z.enum(operations), a: z.number(), b: z.number() }),
    run: calculate,
  },
  {
    name: 'echo',
    description: 'Gives the text back',
    inputSchema: object({ text: { type: 'string' } }, ['text']),
    shape: (z) => ({ text: z.string() }),
    run: ({ text }) => text,
  },
];

/** @param {number} n @returns {BenchTool} */
const generated = (n) => ({
  name: `tool_${n}`,
  description: `Tool number ${n}, here to make the list as long as that of a busy server`,
  inputSchema: object(
    {
      id: { type: 'string' },
      count: { type: 'integer', minimum: 0 },
      kind: { type: 'string', enum: kinds },
      verbose: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    ['id', 'count', 'kind'],
  ),
  shape: (z) => ({
    id: z.string(),
    count: z.number().int().min(0),
    kind: z.enum(kinds),
    verbose: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
  }),
  run: ({ id }) => id,
});

const total = Math.max(called.length, Number(process.env.BENCH_TOOLS ?? 0));

export const tools = [...called, ...Array.from({ length: total - called.length }, (_, n) => generated(n))];

/**
 * The result a handler owes where a server needs the whole result.
 * @param {string} value @returns {{ content: [{ type: 'text', text: string }] }}
 */
export const textResult = (value) => ({ content: [{ type: 'text', text: value }] });
