// Modules of Node.js that take long to import. An import reads every property of a module, and some of these load others: from
// Node.js 22 on, node:http loads undici that way (70 ms), and node:util takes 6 ms. Only their types are imported
// (test/layering.test.ts).

export const nodeHttp = () => process.getBuiltinModule('node:http');
export const nodeUtil = () => process.getBuiltinModule('node:util');
